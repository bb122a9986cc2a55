package redact

import (
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// shape is the form of a service's tokens, by its public documentation: a prefix, and a
// number of characters of an alphabet.
type shape struct {
	prefix   string
	alphabet *[256]bool
	min, max int // Characters after the prefix; a max of 0 means no bound.
	// check validates a match of the form; nil for all.
	check func(token string) bool
}

func alphabet(ranges string) *[256]bool {
	var set [256]bool
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			set[b] = true
		}
	}
	return &set
}

var (
	alnum    = alphabet("azAZ09")
	wordlike = alphabet("azAZ09__--")
	dotted   = alphabet("azAZ09__--..~~")
	hexed    = alphabet("afAF09")
	base32d  = alphabet("AZ27")
	upper    = alphabet("AZ09")
	base64d  = alphabet("azAZ09++//==__--")
	digits   = alphabet("09")
	graphic  = alphabet("azAZ09__--..~~++//==::")
)

// shapes are the known forms of tokens.
var shapes = []shape{
	// Clouds and hosting.
	{"AKIA", base32d, 16, 16, nil},
	{"ASIA", base32d, 16, 16, nil},
	{"ABIA", base32d, 16, 16, nil},
	{"ACCA", base32d, 16, 16, nil},
	{"AIza", wordlike, 35, 35, nil},
	{"ya29.", dotted, 20, 0, nil},
	{"GOCSPX-", wordlike, 28, 28, nil},
	{"1//0", wordlike, 30, 0, nil},
	{"GOOG", upper, 20, 58, mixed},
	{"dop_v1_", hexed, 64, 64, nil},
	{"doo_v1_", hexed, 64, 64, nil},
	{"dor_v1_", hexed, 64, 64, nil},
	{"HRKU-", wordlike, 36, 64, nil},
	{"LTAI", alnum, 12, 24, mixed},
	{"AKID", alnum, 32, 40, mixed},
	{"pul-", hexed, 40, 40, nil},
	{"hvs.", wordlike, 24, 0, nil},
	{"hvb.", wordlike, 24, 0, nil},
	{"hvr.", wordlike, 24, 0, nil},
	{"dp.pt.", alnum, 40, 44, nil},
	{"dp.st.", dotted, 40, 80, nil},
	{"dp.ct.", alnum, 40, 44, nil},
	{"sbp_", hexed, 40, 40, nil},
	{"pscale_tkn_", dotted, 32, 64, nil},
	{"pscale_pw_", dotted, 32, 64, nil},
	{"pscale_oauth_", dotted, 32, 64, nil},
	{"fm1_", base64d, 60, 0, nil},
	{"fm2_", base64d, 60, 0, nil},
	{"fo1_", wordlike, 43, 43, nil},
	{"rnd_", alnum, 28, 40, mixed},
	{"dapi", hexed, 32, 34, nil},
	{"nfp_", alnum, 36, 40, nil},
	{"vercel_", alnum, 24, 0, mixed},
	// Code and packages.
	{"ghp_", alnum, 36, 255, nil},
	{"gho_", alnum, 36, 255, nil},
	{"ghu_", alnum, 36, 255, nil},
	{"ghs_", alnum, 36, 255, nil},
	{"ghr_", alnum, 36, 255, nil},
	{"github_pat_", wordlike, 22, 255, nil},
	{"glpat-", dotted, 20, 0, nil},
	{"gldt-", wordlike, 20, 0, nil},
	{"glrt-", wordlike, 20, 0, nil},
	{"glptt-", wordlike, 20, 0, nil},
	{"glcbt-", wordlike, 20, 0, nil},
	{"glft-", wordlike, 20, 0, nil},
	{"gloas-", wordlike, 20, 0, nil},
	{"glsoat-", wordlike, 20, 0, nil},
	{"glagent-", wordlike, 20, 0, nil},
	{"npm_", alnum, 36, 36, nil},
	{"pypi-", wordlike, 50, 0, nil},
	{"rubygems_", hexed, 48, 48, nil},
	{"cio", alnum, 32, 32, mixed},
	{"dckr_pat_", wordlike, 27, 0, nil},
	{"dckr_oat_", wordlike, 27, 0, nil},
	{"oy2", alphabet("az09"), 43, 43, nil},
	{"ATATT3", base64d, 100, 0, nil},
	{"ATBB", alnum, 28, 36, mixed},
	{"ATCTT3", base64d, 60, 0, nil},
	{"bkua_", alnum, 40, 40, nil},
	{"CCIPAT_", wordlike, 40, 0, nil},
	{"CCIPRJ_", wordlike, 40, 0, nil},
	{"AKCp", alnum, 60, 80, nil},
	// Chat and mail.
	{"xoxa-", wordlike, 10, 0, nil},
	{"xoxb-", wordlike, 10, 0, nil},
	{"xoxc-", wordlike, 10, 0, nil},
	{"xoxd-", graphic, 10, 0, nil},
	{"xoxe-", wordlike, 10, 0, nil},
	{"xoxe.", dotted, 10, 0, nil},
	{"xoxo-", wordlike, 10, 0, nil},
	{"xoxp-", wordlike, 10, 0, nil},
	{"xoxr-", wordlike, 10, 0, nil},
	{"xoxs-", wordlike, 10, 0, nil},
	{"xapp-", wordlike, 20, 0, nil},
	{"xwfp-", wordlike, 20, 0, nil},
	{"SG.", dotted, 60, 72, dotsAt(22)},
	{"key-", hexed, 32, 32, nil},
	{"SK", hexed, 32, 32, nil},
	{"xkeysib-", wordlike, 64, 0, nil},
	{"EAA", alnum, 60, 0, mixed},
	{"hooks.slack.com/services/", base64d, 30, 0, nil},
	{"discord.com/api/webhooks/", base64d, 60, 0, nil},
	{"discordapp.com/api/webhooks/", base64d, 60, 0, nil},
	{"syt_", wordlike, 20, 0, nil},
	// Payments and commerce.
	{"sk_live_", alnum, 10, 0, nil},
	{"sk_test_", alnum, 10, 0, nil},
	{"rk_live_", alnum, 10, 0, nil},
	{"rk_test_", alnum, 10, 0, nil},
	{"sk_prod_", alnum, 10, 0, nil},
	{"whsec_", base64d, 24, 0, nil},
	{"shpat_", hexed, 32, 32, nil},
	{"shpca_", hexed, 32, 32, nil},
	{"shppa_", hexed, 32, 32, nil},
	{"shpss_", hexed, 32, 32, nil},
	{"sq0atp-", wordlike, 22, 22, nil},
	{"sq0csp-", wordlike, 43, 43, nil},
	{"EAAA", wordlike, 60, 60, nil},
	{"FLWSECK-", wordlike, 32, 0, nil},
	{"FLWSECK_TEST-", wordlike, 12, 0, nil},
	{"access-sandbox-", wordlike, 36, 36, nil},
	{"access-development-", wordlike, 36, 36, nil},
	{"access-production-", wordlike, 36, 36, nil},
	{"access_token$production$", alnum, 30, 0, nil},
	{"live_", alnum, 30, 40, mixed},
	// Models.
	{"sk-ant-", wordlike, 20, 0, nil},
	{"sk-proj-", wordlike, 20, 0, nil},
	{"sk-svcacct-", wordlike, 20, 0, nil},
	{"sk-admin-", wordlike, 20, 0, nil},
	{"sk-or-v1-", hexed, 64, 64, nil},
	{"sk-", alnum, 32, 64, mixed},
	{"hf_", alnum, 34, 37, nil},
	{"r8_", alnum, 37, 40, nil},
	{"gsk_", alnum, 48, 56, nil},
	{"xai-", alnum, 70, 90, nil},
	{"pplx-", alnum, 40, 60, nil},
	{"AIzaSy", wordlike, 33, 33, nil},
	// Work and observability.
	{"lin_api_", alnum, 32, 48, nil},
	{"lin_oauth_", hexed, 64, 64, nil},
	{"secret_", alnum, 43, 43, nil},
	{"ntn_", alnum, 40, 50, nil},
	{"pat", dotted, 70, 90, dotsAt(14)},
	{"figd_", wordlike, 36, 0, nil},
	{"PMAK-", wordlike, 59, 59, nil},
	{"glsa_", wordlike, 41, 41, nil},
	{"glc_", base64d, 32, 0, nil},
	{"NRAK-", upper, 27, 27, nil},
	{"NRII-", wordlike, 32, 32, nil},
	{"NRJS-", hexed, 19, 19, nil},
	{"sntrys_", base64d, 40, 0, nil},
	{"sntryu_", hexed, 64, 64, nil},
	{"CFPAT-", wordlike, 43, 43, nil},
	{"pat-na1-", wordlike, 36, 36, nil},
	{"pat-eu1-", wordlike, 36, 36, nil},
	{"sgp_", wordlike, 40, 0, nil},
	{"sl.", wordlike, 130, 0, nil},
	{"AGE-SECRET-KEY-1", upper, 58, 58, nil},
	{"SSWS 00", wordlike, 38, 40, nil},
	{"phx_", alnum, 40, 60, nil},
	{"tskey-", wordlike, 20, 0, nil},
	{"ops_eyJ", base64d, 60, 0, nil},
	{"sdk-", wordlike, 36, 36, uuidlike},
	{"api-", wordlike, 36, 36, uuidlike},
	{"mfa.", wordlike, 60, 100, nil},
	{"apify_api_", alnum, 30, 50, nil},
	{"cal_live_", alnum, 20, 50, nil},
	{"re_", wordlike, 30, 40, mixed},
	// Of several services.
	{"eyJ", dotted, 40, 0, jsonWebToken},
}

// beginnings lists shapes by the first byte of their prefixes.
var beginnings = func() (index [256][]*shape) {
	for i := range shapes {
		b := shapes[i].prefix[0]
		index[b] = append(index[b], &shapes[i])
	}
	return index
}()

// tokens redacts tokens of known forms.
func tokens(s string) string {
	var out strings.Builder
	rest := 0
	for i := 0; i < len(s); {
		end := tokenEnd(s, i)
		if end == 0 {
			i++
			continue
		}
		out.WriteString(s[rest:i])
		out.WriteString(tool.Redacted)
		rest, i = end, end
	}
	if rest == 0 {
		return s
	}
	return out.String() + s[rest:]
}

// tokenEnd returns the end of the token that begins at i; 0 for none.
func tokenEnd(s string, i int) int {
	if i > 0 && (alnum[s[i-1]] || s[i-1] == '_') && !escapeBefore(s, i) {
		return 0
	}
	for _, shape := range beginnings[s[i]] {
		if strings.HasPrefix(s[i:], shape.prefix) {
			if end := shape.end(s, i+len(shape.prefix)); end != 0 {
				return end
			}
		}
	}
	for _, end := range []func(string, int) int{telegramEnd, discordEnd, unprefixedEnd} {
		if end := end(s, i); end != 0 {
			return end
		}
	}
	return 0
}

// escapeBefore reports whether the letter before i is part of an escape sequence, such as
// the n of \n.
func escapeBefore(s string, i int) bool {
	return i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0 ||
		i > 2 && s[i-3] == '%' && strings.EqualFold(s[i-2:i], "3D")
}

func (h *shape) end(s string, start int) int {
	end := start
	for end < len(s) && h.alphabet[s[end]] {
		end++
	}
	for end > start && (s[end-1] == '.' || s[end-1] == '-') { // The end of a sentence.
		end--
	}
	if n := end - start; n < h.min || h.max > 0 && n > h.max {
		return 0
	}
	if h.check != nil && !h.check(s[start:end]) {
		return 0
	}
	return end
}

// mixed reports whether a token has digits and letters, unlike words.
func mixed(token string) bool {
	count := 0
	for i := range len(token) {
		if digits[token[i]] {
			count++
		}
	}
	return count >= 2 && count < len(token)
}

// dotsAt returns a check for a dot at an index.
func dotsAt(place int) func(string) bool {
	return func(token string) bool { return len(token) > place && token[place] == '.' && mixed(token) }
}

func uuidlike(token string) bool {
	return token[8] == '-' && token[13] == '-' && token[18] == '-' && token[23] == '-'
}

// jsonWebToken reports whether a token has three parts, and two that are objects.
func jsonWebToken(token string) bool {
	parts := strings.Split(token, ".")
	return len(parts) >= 3 && len(parts[0]) >= 10 && len(parts[1]) >= 4 && len(parts[2]) >= 16 &&
		(len(parts) == 5 || strings.HasPrefix(parts[1], "eyJ"))
}

// span returns the end of a run of characters of an alphabet.
func span(s string, i int, set *[256]bool) int {
	for i < len(s) && set[s[i]] {
		i++
	}
	return i
}

// telegramEnd finds tokens of bots: digits, a colon, and 35 characters.
func telegramEnd(s string, i int) int {
	if !digits[s[i]] {
		return 0
	}
	colon := span(s, i, digits)
	if n := colon - i; n < 8 || n > 10 || !strings.HasPrefix(s[colon:], ":AA") {
		return 0
	}
	if end := span(s, colon+1, wordlike); end-colon-1 == 35 {
		return end
	}
	return 0
}

// discordEnd finds tokens of bots: three parts of base64.
func discordEnd(s string, i int) int {
	if s[i] < 'M' || s[i] > 'O' {
		return 0
	}
	first := span(s, i, wordlike)
	if n := first - i; n < 24 || n > 28 || first >= len(s) || s[first] != '.' || !mixed(s[i:first]) {
		return 0
	}
	second := span(s, first+1, wordlike)
	if second-first-1 != 6 || second >= len(s) || s[second] != '.' {
		return 0
	}
	if end := span(s, second+1, wordlike); end-second-1 >= 27 && end-second-1 <= 40 {
		return end
	}
	return 0
}

// unprefixedEnd finds tokens that are known by what is in them: keys of Azure
// storage, of 64 bytes in base64, and secrets of Azure applications; those of
// Mailchimp and of Terraform.
func unprefixedEnd(s string, i int) int {
	end := span(s, i, alnum)
	switch n := end - i; {
	case n == 14 && strings.HasPrefix(s[end:], ".atlasv1."):
		if last := span(s, end+len(".atlasv1."), wordlike); last-end >= 60 {
			return last
		}
	case n == 32 && strings.HasPrefix(s[end:], "-us") && span(s, i, hexed) == end:
		if last := span(s, end+3, digits); last > end+3 {
			return last
		}
	}
	if end = span(s, i, dotted); end-i >= 37 && end-i <= 40 && strings.HasPrefix(s[i+4:], "Q~") && digits[s[i+3]] {
		return end
	}
	end = i
	for end < len(s) && (alnum[s[end]] || s[end] == '+' || s[end] == '/') {
		end++
	}
	if end-i == 86 && strings.HasPrefix(s[end:], "==") && !strings.HasSuffix(s[:i], "sha512-") && mixed(s[i:end]) {
		return end + 2
	}
	return 0
}

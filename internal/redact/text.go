package redact

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Text returns s without likely secrets: passwords of URLs and data source names, sensitive
// parameters and assignments, values of sensitive headers, credentials after Basic and
// Bearer, private keys, credentials on command lines, and tokens of a well-known form; also
// within JSON and base64. Placeholders such as {token} are not secret.
func Text(s string) string { return text(s, 0) }

var (
	header     = regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9_-]*)\s*:\s*(\S.*)$`)
	userinfo   = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^\s/@:?#"'<>]*)(:[^\s/@"'<>]*)?@`)
	mysql      = regexp.MustCompile(`^([^\s:@/]+):(.+)@((?:tcp|udp|unix)?\()`)
	assignment = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_.-]*)(\s*=\s*)("[^"]*"|'[^']*'|[^\s;&#,"']+)`)
	scheme     = regexp.MustCompile(`(?i)\b(basic|bearer|token|apikey)(\s+)([A-Za-z0-9+/=._~-]{8,})`)
	privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)
	member     = regexp.MustCompile(`(\\?["'])([A-Za-z][A-Za-z0-9_.-]*)(\\?["']\s*:\s*\\?["'])((?:[^"'\\]|\\[^"'])+)`)
	pairLine   = regexp.MustCompile(`(?m)^([ \t>*-]*)([A-Za-z][A-Za-z0-9_.-]*)([ \t]*:[ \t]+)([^\s"'{}\[\]][^\n]*)$`)
	inline     = regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9_-]*)(\s*:\s*)((?i:basic|bearer|token|digest|negotiate|apikey)\s+)?([^\s"',;{}\[\]]{6,})`)
	element    = regexp.MustCompile(`<([A-Za-z][A-Za-z0-9_.:-]*)>([^<>]+)</`)
	hidden     = regexp.MustCompile(`(?:\S[=:]\s*|://|(?i:basic|bearer|token|apikey)\s+|--?[A-Za-z][A-Za-z0-9_-]*\s+)` +
		regexp.QuoteMeta(tool.Redacted))
	placeholder = regexp.MustCompile(`^\{[^{}]*\}$`)
)

func text(s string, nesting int) string {
	if s == "" || s == tool.Redacted || nesting > maxNesting {
		return s
	}
	trimmed := strings.TrimSpace(s)
	if (strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")) && json.Valid([]byte(trimmed)) {
		if hidden := string(at(json.RawMessage(trimmed), nesting+1)); hidden != trimmed {
			return hidden
		}
		return s
	}
	if m := header.FindStringSubmatchIndex(s); m != nil && SensitiveKey(s[m[2]:m[3]]) && !stands(s[m[4]:m[5]]) &&
		(carriesScheme(s[m[2]:m[3]]) || len(strings.Fields(s[m[4]:m[5]])) <= 3) {
		return s[:m[4]] + tool.Redacted
	}
	if strings.Contains(s, "PRIVATE KEY") {
		s = privateKey.ReplaceAllString(s, tool.Redacted)
	}
	return blobs(tokens(judged(s)), nesting)
}

// judged hides secrets identified by names and places, in the lines with any part of such
// a name.
func judged(s string) string {
	if !strings.Contains(s, "\n") {
		return judgedLine(s)
	}
	var out strings.Builder
	changed := false
	for line := range strings.Lines(s) {
		shown := judgedLine(line)
		changed = changed || shown != line
		out.WriteString(shown)
	}
	if !changed {
		return s
	}
	return out.String()
}

func judgedLine(s string) string {
	if strings.Contains(s, "@") {
		s = replace(userinfo, s, func(m []string) string {
			switch {
			case m[3] == "" && (m[2] == "" || stands(m[2]) || !strings.HasPrefix(strings.ToLower(m[1]), "http")),
				m[3] != "" && stands(m[3][1:]):
				return m[0] // User names are not secret; tokens in their place are.
			case m[3] == "":
				return m[1] + tool.Redacted + "@"
			default:
				return m[1] + m[2] + ":" + tool.Redacted + "@"
			}
		})
		s = mysql.ReplaceAllString(s, "${1}:"+tool.Redacted+"@${3}")
	}
	if !speaks(s) {
		return s
	}
	s = commands(named(s))
	s = replace(assignment, s, func(m []string) string {
		if !SensitiveKey(m[1]) || stands(strings.Trim(m[3], `"'`)) || m[3] == "true" || m[3] == "false" {
			return m[0]
		}
		return m[1] + m[2] + tool.Redacted
	})
	return replace(scheme, s, func(m []string) string {
		if len(m[3]) < 20 && !strings.ContainsFunc(m[3], unicode.IsDigit) {
			return m[0] // A word.
		}
		return m[1] + m[2] + tool.Redacted
	})
}

// stems are parts of every name and word that identifies a secret.
var stems = strings.Fields(`pass pwd psw secret token key auth cookie cred bearer basic sig otp pin sess sid jwt cvv cvc
	psk dsn mnemonic phrase code card csrf xsrf sas hmac netrc kubeconfig conn saml assertion url curl mysql maria redis
	ldap one_time one-time onetime bapi material login mongo sqlcmd smbclient wget database`)

// stemsBy lists stems by their first letter.
var stemsBy = func() (index [256][]string) {
	for _, stem := range stems {
		index[stem[0]] = append(index[stem[0]], stem)
		index[stem[0]-'a'+'A'] = append(index[stem[0]-'a'+'A'], stem)
	}
	return index
}()

// speaks reports whether a text contains a stem.
func speaks(s string) bool {
	for i := range len(s) {
		for _, stem := range stemsBy[s[i]] {
			if len(s)-i >= len(stem) && strings.EqualFold(s[i:i+len(stem)], stem) {
				return true
			}
		}
	}
	return false
}

// minBlob is the minimum length of base64 that is decoded.
const minBlob = 16

// blobs hides base64 that contains likely secrets.
func blobs(s string, nesting int) string {
	var out strings.Builder
	rest := 0
	for i := 0; i < len(s); {
		if !base64d[s[i]] || s[i] == '=' {
			i++
			continue
		}
		end := i
		for end < len(s) && base64d[s[end]] && s[end] != '=' {
			end++
		}
		long := end-i >= minBlob
		for n := 0; n < 2 && end < len(s) && s[end] == '='; n++ {
			end++
		}
		if long && conceals(s[i:end], nesting) {
			out.WriteString(s[rest:i] + tool.Redacted)
			rest = end
		}
		i = end
	}
	if rest == 0 {
		return s
	}
	return out.String() + s[rest:]
}

// named hides the values of sensitive names before a colon, and of sensitive elements.
func named(s string) string {
	if strings.Contains(s, ":") {
		s = replace(member, s, func(m []string) string {
			if !SensitiveKey(m[2]) || stands(m[4]) {
				return m[0]
			}
			return m[1] + m[2] + m[3] + tool.Redacted
		})
		s = replace(pairLine, s, func(m []string) string {
			value := strings.TrimSpace(m[4])
			if !SensitiveKey(m[2]) || stands(value) || plainValue(value) ||
				strings.Contains(value, " ") && !carriesScheme(m[2]) {
				return m[0]
			}
			return m[1] + m[2] + m[3] + tool.Redacted
		})
		s = replace(inline, s, func(m []string) string {
			if !SensitiveKey(m[1]) || stands(m[4]) || strings.HasPrefix(m[4], "//") || strings.HasPrefix(m[4], "=") ||
				m[3] == "" && isWord(m[4]) {
				return m[0]
			}
			return m[1] + m[2] + m[3] + tool.Redacted
		})
	}
	if strings.Contains(s, "</") {
		s = replace(element, s, func(m []string) string {
			if !SensitiveKey(m[1]) || stands(m[2]) || strings.TrimSpace(m[2]) == "" {
				return m[0]
			}
			return "<" + m[1] + ">" + tool.Redacted + "</"
		})
	}
	return s
}

// carriesScheme reports whether the value of a header may contain spaces.
func carriesScheme(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "authorization") || strings.HasSuffix(name, "cookie")
}

// plainValue reports whether a value is not a secret by its form.
func plainValue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "null", "none", "~", "string", "required", "optional", "yes", "no", "on", "off", "|", ">":
		return true
	default:
		return false
	}
}

// isWord reports whether a text is a word of prose.
func isWord(s string) bool {
	return strings.Trim(strings.ToLower(strings.TrimRight(s, ".!?):")), "abcdefghijklmnopqrstuvwxyz-_()") == ""
}

// Stands reports whether a text is a redaction mark of [JSON], or has one in the place of a
// secret. Prose may mention it.
func Stands(s string) bool { return s == tool.Redacted || hidden.MatchString(s) }

// stands reports whether a value is a redaction mark or a placeholder.
func stands(value string) bool { return value == tool.Redacted || placeholder.MatchString(value) }

// conceals reports whether a text is base64 that contains likely secrets.
func conceals(s string, nesting int) bool {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	raw, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || !utf8.Valid(raw) ||
		strings.ContainsFunc(string(raw), func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) {
		return false
	}
	return text(string(raw), nesting+1) != string(raw)
}

// replace is ReplaceAllStringFunc with the groups of a match.
func replace(re *regexp.Regexp, s string, fn func(groups []string) string) string {
	return re.ReplaceAllStringFunc(s, func(match string) string { return fn(re.FindStringSubmatch(match)) })
}

package encoded_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encoder writes a text in another form; decode undoes it as far as it can, in
// every way the form can be read.
type encoder struct {
	name   string
	encode func(r *rand.Rand, s string) string
	decode func(s string) []string
}

func simple(name string, decode func(string) []string, encode func(string) string) encoder {
	return encoder{name, func(_ *rand.Rand, s string) string { return encode(s) }, decode}
}

func encoders() []encoder {
	return []encoder{
		simple("url.PathEscape", percents, url.PathEscape),
		simple("url.QueryEscape", percents, url.QueryEscape),
		simple("encodeURIComponent", percents, func(s string) string { return percented(s, "-_.!~*'()", "%%%02X") }),
		simple("encodeURI", percents, func(s string) string { return percented(s, "-_.!~*'();/?:@&=+$,#", "%%%02X") }),
		simple("percent, slash kept", percents, func(s string) string { return percented(s, "-_.~/", "%%%02X") }),
		simple("percent, lower case", percents, func(s string) string { return percented(s, "-_.~", "%%%02x") }),
		{"percent, some", func(r *rand.Rand, s string) string {
			return each(s, func(b string) string { return pick(r, b, fmt.Sprintf("%%%02X", b), fmt.Sprintf("%%%02x", b)) })
		}, percents},
		simple("percent, twice", percents, func(s string) string { return url.QueryEscape(url.PathEscape(s)) }),
		simple("html.EscapeString", entities, html.EscapeString),
		{"entities, some", func(r *rand.Rand, s string) string {
			return runes(s, func(c rune) string {
				return pick(r, html.EscapeString(string(c)), fmt.Sprintf("&#%d;", c), fmt.Sprintf("&#x%x;", c),
					fmt.Sprintf("&#X%05X;", c))
			})
		}, entities},
		simple("json", backslashes, func(s string) string { return quoted(s, true) }),
		simple("json, no HTML", backslashes, func(s string) string { return quoted(s, false) }),
		simple("json, twice", backslashes, func(s string) string { return quoted(quoted(s, true), false) }),
		simple("json, slashes", backslashes, func(s string) string {
			return strings.ReplaceAll(quoted(s, false), "/", `\/`)
		}),
		{`json, \u`, func(r *rand.Rand, s string) string {
			return runes(s, func(c rune) string {
				if r.IntN(2) == 0 {
					return quoted(string(c), false)
				}
				var out string
				var outSb57 strings.Builder
				for _, unit := range utf16.Encode([]rune{c}) {
					outSb57.WriteString(pick(r, fmt.Sprintf(`\u%04x`, unit), fmt.Sprintf(`\u%04X`, unit)))
				}
				out += outSb57.String()
				return out
			})
		}, backslashes},
		{"base64", func(r *rand.Rand, s string) string {
			enc := pick(r, base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding)
			return enc.EncodeToString([]byte(strings.Repeat("~", r.IntN(3)) + s))
		}, base64s},
		{"base64, MIME", func(r *rand.Rand, s string) string {
			return lines(base64.StdEncoding.EncodeToString([]byte(s)), pick(r, 76, 64, 19), pick(r, "\r\n", "\n", "\n  "))
		}, base64s},
		{"hex", func(r *rand.Rand, s string) string {
			return pick(r, hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))),
				lines(hex.EncodeToString([]byte(s)), 60, "\n"))
		}, hexes},
	}
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

func each(s string, fn func(b string) string) string {
	var out strings.Builder
	for i := range len(s) {
		out.WriteString(fn(s[i : i+1]))
	}
	return out.String()
}

func runes(s string, fn func(rune) string) string {
	var out strings.Builder
	for _, c := range s {
		out.WriteString(fn(c))
	}
	return out.String()
}

func percented(s, kept, format string) string {
	return each(s, func(b string) string {
		if c := b[0]; c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.Contains(kept, b) {
			return b
		}
		return fmt.Sprintf(format, b[0])
	})
}

func quoted(s string, escapeHTML bool) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(escapeHTML)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(out.String()), `"`), `"`)
}

func lines(s string, width int, end string) string {
	var out strings.Builder
	for len(s) > width {
		out.WriteString(s[:width] + end)
		s = s[width:]
	}
	return out.String() + s
}

var (
	percentEscapes = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
	jsonEscapes    = regexp.MustCompile(`(\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]`)
	base64Runs     = regexp.MustCompile(`[A-Za-z0-9+/_-]+(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/_-]+)*`)
	hexRuns        = regexp.MustCompile(`[A-Fa-f0-9]+(?:[ \t]*\r?\n[ \t]*[A-Fa-f0-9]+)*`)
)

func percents(s string) []string {
	once := percentEscapes.ReplaceAllStringFunc(s, func(m string) string {
		raw, _ := hex.DecodeString(m[1:])
		return string(raw)
	})
	return []string{once, strings.ReplaceAll(once, "+", " "), strings.ReplaceAll(s, "+", " ")}
}

func entities(s string) []string { return []string{html.UnescapeString(s)} }

func backslashes(s string) []string {
	return []string{jsonEscapes.ReplaceAllStringFunc(s, func(m string) string {
		var out string
		if json.Unmarshal([]byte(`"`+m+`"`), &out) != nil {
			return m
		}
		return out
	})}
}

func unbroken(s string) string {
	return strings.NewReplacer("\r", "", "\n", "", " ", "", "\t", "", "-", "+", "_", "/").Replace(s)
}

func base64s(s string) []string {
	var out []string
	for phase := range 4 {
		out = append(out, base64Runs.ReplaceAllStringFunc(s, func(m string) string {
			m = unbroken(m)
			if len(m) <= phase {
				return m
			}
			m = m[phase:]
			if len(m)%4 == 1 {
				m = m[:len(m)-1]
			}
			raw, _ := base64.RawStdEncoding.DecodeString(m)
			return string(raw)
		}))
	}
	return out
}

func hexes(s string) []string {
	var out []string
	for phase := range 2 {
		out = append(out, hexRuns.ReplaceAllStringFunc(s, func(m string) string {
			m = unbroken(m)
			m = m[min(phase, len(m)):]
			raw, _ := hex.DecodeString(m[:len(m)/2*2])
			return string(raw)
		}))
	}
	return out
}

// password returns a synthetic credential.
func password(r *rand.Rand) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	alphabet := pick(r, plain+"-_", plain+"!#$%&'()*+,-./:;<=>?@[]^_`{|}~\"\\ ", plain+"/+=",
		plain+"äöß€\u00a0\u4e16😀𝔘%&\\")
	letters := []rune(alphabet)
	var out strings.Builder
	for out.Len() < 6+r.IntN(40) {
		out.WriteRune(letters[r.IntN(len(letters))])
	}
	s := out.String()
	if !utf8.ValidString(s) {
		panic(s)
	}
	return s
}

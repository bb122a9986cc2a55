package httpcall

import (
	"net/http"
	"strings"
)

// nextLink returns the target of the first Link header with the relation
// "next" (RFC 8288).
func nextLink(h http.Header) (string, bool) {
	for _, line := range h.Values("Link") {
		for line != "" {
			var target string
			var next, ok bool
			if target, next, line, ok = cutLink(line); !ok {
				break
			}
			if next {
				return target, true
			}
		}
	}
	return "", false
}

// cutLink parses one link of a header, such as <target>; rel="next", and returns
// the rest of the header.
func cutLink(line string) (target string, next bool, rest string, ok bool) {
	line = strings.TrimLeft(line, " \t,")
	after, found := strings.CutPrefix(line, "<")
	if !found {
		return "", false, "", false
	}
	target, rest, found = strings.Cut(after, ">")
	if !found {
		return "", false, "", false
	}
	seen := false
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest, found = strings.CutPrefix(rest, ";"); !found {
			return target, next, rest, true
		}
		var name, value string
		name, value, rest = cutLinkParameter(rest)
		if strings.EqualFold(name, "rel") && !seen { // The first counts.
			seen = true
			for relation := range strings.FieldsSeq(value) {
				next = next || strings.EqualFold(relation, "next")
			}
		}
	}
}

// cutLinkParameter parses name, name=token or name="quoted string".
func cutLinkParameter(s string) (name, value, rest string) {
	end := strings.IndexAny(s, "=;,")
	if end < 0 {
		return strings.TrimSpace(s), "", ""
	}
	name, rest = strings.TrimSpace(s[:end]), s[end:]
	if rest[0] != '=' {
		return name, "", rest
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	if !strings.HasPrefix(rest, `"`) {
		end := strings.IndexAny(rest, ";,")
		if end < 0 {
			end = len(rest)
		}
		return name, strings.TrimSpace(rest[:end]), rest[end:]
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return name, b.String(), rest[i+1:]
		case c == '\\' && i+1 < len(rest):
			i++
			b.WriteByte(rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return name, b.String(), ""
}

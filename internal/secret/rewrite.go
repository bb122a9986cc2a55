package secret

import (
	"bytes"
	"encoding/json"
)

// rewrite applies change to every string and number of raw; everything else is unchanged byte
// for byte. Malformed JSON is passed to change as a whole.
func rewrite(raw json.RawMessage, change func(string) string) json.RawMessage {
	if !json.Valid(raw) {
		return json.RawMessage(change(string(raw)))
	}
	var out bytes.Buffer
	out.Grow(len(raw))
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			end = stringEnd(raw, i)
			out.Write(rewriteString(raw[i:end], change))
		case c == '-' || '0' <= c && c <= '9':
			for end < len(raw) && bytes.IndexByte([]byte("+-.eE0123456789"), raw[end]) >= 0 {
				end++
			}
			out.Write(rewriteNumber(raw[i:end], change))
		default:
			out.WriteByte(c)
		}
		i = end
	}
	return out.Bytes()
}

// stringEnd returns the index after the string literal that starts at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func rewriteString(literal []byte, change func(string) string) []byte {
	var s string
	if json.Unmarshal(literal, &s) != nil {
		return literal // Unreachable: raw is valid.
	}
	changed := change(s)
	if changed == s {
		return literal
	}
	quoted, err := json.Marshal(changed)
	if err != nil {
		return []byte(`"` + Redacted + `"`)
	}
	return quoted
}

func rewriteNumber(literal []byte, change func(string) string) []byte {
	if change(string(literal)) == string(literal) {
		return literal
	}
	return []byte(`"` + Redacted + `"`)
}

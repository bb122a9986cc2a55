package v1

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Redacted stands in answers for a value that looks like a secret.
const Redacted = "[redacted]"

// secretWords are what the name of a secret contains, in lower case and
// without separators.
var secretWords = []string{
	"apikey", "token", "secret", "password", "passwd", "passphrase", "authorization", "privatekey", "accesskey", "cookie",
}

// plainNames name no secret: they contain a word of [secretWords] by chance,
// or say where a value comes from.
var plainNames = []string{"from", "credentialsref", "credentialref", "secretref", "maxtokens", "tokenlimit", "tokenbudget"}

// Redact returns raw with the values that look like secrets replaced, by the
// names of their keys: strings and numbers below "api_key", "token" and the
// like. A reference to a secret is none. What is not JSON comes back empty.
func Redact(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(redact(v, false)) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

func redact(v any, secret bool) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = redact(value, secret && !isPlain(name) || isSecret(name))
		}
	case []any:
		for i, value := range v {
			v[i] = redact(value, secret)
		}
	case string, json.Number:
		if secret {
			return Redacted
		}
	}
	return v
}

func isSecret(name string) bool {
	if isPlain(name) {
		return false
	}
	name = bare(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

func isPlain(name string) bool { return slices.Contains(plainNames, bare(name)) }

// bare returns name in lower case, without separators.
func bare(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(name))
}

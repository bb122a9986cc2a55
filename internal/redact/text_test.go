package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/redact"
)

const hush = "hush-4f1c9e7a"

// Wherever a secret stands in a configuration, it is hidden, and what stands
// beside it is not.
func TestSecretsAreHiddenAtAnyDepth(t *testing.T) {
	t.Parallel()

	b64 := func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(s, "§", hush)))
	}
	quoted := func(s string) string {
		raw, err := json.Marshal(s)
		require.NoError(t, err)
		return string(raw)
	}
	configs := map[string]string{
		"member":                `{"keep": 1, "api_key": "§"}`,
		"nested":                `{"keep": 1, "a": {"b": [{"c": {"clientSecret": "§"}}]}}`,
		"object":                `{"keep": 1, "credentials": {"user": "u", "deep": ["§"]}}`,
		"number":                `{"keep": 1, "pin": 1234567, "password": "§"}`,
		"header list":           `{"keep": 1, "headers": [{"name": "X-Api-Key", "value": "§"}]}`,
		"header list of lists":  `{"keep": 1, "headers": [{"key": "Authorization", "values": ["§"]}]}`,
		"header pairs":          `{"keep": 1, "headers": [["Accept", "x"], ["Authorization", "§"]]}`,
		"header lines":          `{"keep": 1, "headers": ["Accept: x", "Authorization: Bearer §"]}`,
		"cookie line":           `{"keep": 1, "lines": ["Cookie: sid=§; theme=dark"]}`,
		"environment":           `{"keep": 1, "env": ["HOME=/x", "DB_PASSWORD=§"]}`,
		"environment objects":   `{"keep": 1, "env": [{"name": "DB_PASSWORD", "value": "§"}]}`,
		"URL userinfo":          `{"keep": 1, "url": "https://user:§@api.example.com/x"}`,
		"URL token as user":     `{"keep": 1, "url": "https://§@api.example.com/x"}`,
		"URL parameter":         `{"keep": 1, "url": "https://api.example.com/x?page=2&api_key=§&z=1"}`,
		"URL fragment":          `{"keep": 1, "url": "https://api.example.com/x#access_token=§"}`,
		"URL in prose":          `{"keep": 1, "note": "see https://user:§@api.example.com/x for more"}`,
		"postgres URL":          `{"keep": 1, "store": "postgres://app:§@db:5432/crib?sslmode=require"}`,
		"redis URL":             `{"keep": 1, "store": "redis://:§@cache:6379/0"}`,
		"mysql DSN":             `{"keep": 1, "store": "app:§@tcp(db:3306)/crib"}`,
		"mysql DSN with signs":  `{"keep": 1, "store": "app:p@§@tcp(db:3306)/crib"}`,
		"libpq DSN":             `{"keep": 1, "store": "host=db user=app password=§ dbname=crib"}`,
		"libpq DSN, quoted":     `{"keep": 1, "store": "host=db password='§ with spaces' dbname=crib"}`,
		"ADO string":            `{"keep": 1, "store": "Server=db;User Id=app;Password=§;Encrypt=true"}`,
		"storage string":        `{"keep": 1, "store": "AccountName=x;AccountKey=§==;EndpointSuffix=y"}`,
		"bearer in text":        `{"keep": 1, "note": "send Bearer § to it"}`,
		"basic in text":         `{"keep": 1, "note": "Basic ` + b64("user:§") + `"}`,
		"JSON in a string":      `{"keep": 1, "body": ` + quoted(`{"a": {"password": "§"}}`) + `}`,
		"JSON twice in strings": `{"keep": 1, "body": ` + quoted(`{"inner": `+quoted(`{"token": "§"}`)+`}`) + `}`,
		"list in a string":      `{"keep": 1, "body": ` + quoted(`[{"name": "Authorization", "value": "§"}]`) + `}`,
		"base64 of JSON":        `{"keep": 1, "blob": "` + b64(`{"client_secret": "§"}`) + `"}`,
		"base64 of a URL":       `{"keep": 1, "blob": "` + b64(`https://user:§@api.example.com`) + `"}`,
		"base64url of a DSN": `{"keep": 1, "blob": "` +
			strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(b64(`host=db password=§`)) + `"}`,
		"private key":          `{"keep": 1, "pem": "-----BEGIN EC PRIVATE KEY-----\n§\n-----END EC PRIVATE KEY-----\n"}`,
		"private key, cut":     `{"keep": 1, "pem": "-----BEGIN PRIVATE KEY-----\n§"}`,
		"schema default":       `{"keep": 1, "properties": {"api_key": {"type": "string", "default": "§"}}}`,
		"schema const":         `{"keep": 1, "properties": {"token": {"const": "§"}}}`,
		"schema enum":          `{"keep": 1, "properties": {"password": {"type": "string", "enum": ["§", "x"]}}}`,
		"schema examples":      `{"keep": 1, "properties": {"secret": {"type": "string", "examples": ["§"]}}}`,
		"schema of items":      `{"keep": 1, "properties": {"secrets": {"type": "array", "items": {"type": "string", "default": "§"}}}}`,
		"schema of choices":    `{"keep": 1, "properties": {"secret": {"anyOf": [{"const": "§"}, {"type": "null"}]}}}`,
		"schema, nested":       `{"keep": 1, "properties": {"auth_config": {"type": "object", "properties": {"password": {"type": "string", "default": "§"}}}}}`,
		"value named property": `{"keep": 1, "properties": {"password": "§"}}`,
	}
	require.GreaterOrEqual(t, len(configs), 40)
	for name, config := range configs {
		config = strings.ReplaceAll(config, "§", hush)
		require.True(t, json.Valid([]byte(config)), name)
		shown := string(redact.JSON(json.RawMessage(config)))
		require.True(t, json.Valid([]byte(shown)), name)
		require.NotContains(t, shown, hush, name)
		for _, form := range []string{b64(hush), b64("user:" + hush), b64(`{"client_secret": "` + hush + `"}`)} {
			require.NotContains(t, shown, form, name)
		}
		require.Contains(t, shown, "[redacted]", "%s: %s", name, config)
		require.Contains(t, shown, `"keep":1`, name)
		again := redact.JSON(json.RawMessage(shown))
		require.JSONEq(t, shown, string(again), "%s: what is hidden stays as it is", name)
		require.JSONEq(t, config, string(redact.Restore(json.RawMessage(shown), json.RawMessage(config))),
			"%s: what is shown and sent back is what was stored", name)
	}
}

// What is no secret is shown as it is, byte for byte.
func TestTheRestIsShown(t *testing.T) {
	t.Parallel()

	for _, config := range []string{
		`{"url":  "https://api.example.com/orders?page=2&page_token=abc&max_tokens=3"}`,
		`{"url": "https://api.example.com/{?token}", "b": 1, "a": 2}`,
		`{"url": "https://{user}@api.example.com/x?api_key={key}"}`,
		`{"headers": ["Accept: application/json", "X-Api-Key: {key}"]}`,
		`{"headers": [{"name": "Accept", "value": "x"}], "pairs": [["Accept", "x"]]}`,
		`{"note": "Use a Bearer authentication or basic instructions, token counts."}`,
		`{"store": "postgres://app@db:5432/crib"}`,
		`{"time": "at 10:30: ask bob@example.com"}`,
		`{"email": "mailto:bob@example.com"}`,
		`{"digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}`,
		`{"picture": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"}`,
		`{"text": "` + base64.StdEncoding.EncodeToString([]byte("nothing to see here, move along")) + `"}`,
		`{"properties": {"token": {"type": "string", "description": "Your token", "default": null}, "max_tokens": {"type": "integer", "default": 100}}}`,
		`{"properties": {"primary_key": {"type": "string", "enum": ["id", "uuid"]}}, "required": ["token"]}`,
		`{"body": "{\"a\": 1.10, \"b\": \"x\"}"}`,
		`{"credentials_ref": "orders-api", "secret_name": "x", "author": "Ada"}`,
		`{"jq": ".items[] | select(.id == 3)", "expression": "a=b"}`,
		`1e400`,
	} {
		require.Equal(t, config, string(redact.JSON(json.RawMessage(config))))
	}
}

// A definition that was read, edited and sent again keeps its secrets, unless
// they could be led elsewhere by that.
func TestRestore(t *testing.T) {
	t.Parallel()

	const stored = `{"url": "https://api.example.com", "api_key": "S1", "limit": 5, "label": "one",
		"headers": [{"name": "X-Api-Key", "value": "S2"}, {"name": "X-Auth", "value": "S3"}], "lists": [[{"password": "S4"}], [{"password": "S5"}]]}`
	tests := map[string]struct{ sent, want string }{
		"number and name": {
			`{"url": "https://api.example.com", "api_key": "[redacted]", "limit": 9, "label": "two"}`,
			`{"url": "https://api.example.com", "api_key": "S1", "limit": 9, "label": "two"}`,
		},
		"another order": {
			`{"headers": [{"name": "X-Auth", "value": "[redacted]"}, {"name": "X-Api-Key", "value": "[redacted]"}]}`,
			`{"headers": [{"name": "X-Auth", "value": "S3"}, {"name": "X-Api-Key", "value": "S2"}]}`,
		},
		"lists in lists": {
			`{"lists": [[{"password": "[redacted]"}], [{"password": "[redacted]", "n": 1}]]}`,
			`{"lists": [[{"password": "S4"}], [{"password": "S5", "n": 1}]]}`,
		},
		"new secret beside": {`{"api_key": "[redacted]", "password": "S9"}`, `{"api_key": "S1", "password": "S9"}`},
		"another host":      {`{"url": "https://evil.example.com", "api_key": "[redacted]"}`, ""},
		"another URL added": {`{"url": "https://api.example.com", "api_key": "[redacted]", "proxy": "evil"}`, ""},
		"moved": {
			`{"api_key": "[redacted]", "elsewhere": {"password": "[redacted]"}}`,
			`{"api_key": "S1", "elsewhere": {"password": "[redacted]"}}`,
		},
		"unknown name": {`{"headers": [{"name": "X-Key", "value": "[redacted]"}]}`, ""},
		"none":         {`{"limit": 9}`, ""},
		"no JSON":      {`[redacted`, ""},
	}
	for name, tt := range tests {
		got := string(redact.Restore(json.RawMessage(tt.sent), json.RawMessage(stored)))
		if tt.want == "" {
			require.Equal(t, tt.sent, got, name)
			continue
		}
		require.JSONEq(t, tt.want, got, name)
	}
	require.JSONEq(t, `{"a":"[redacted]"}`, string(redact.Restore(json.RawMessage(`{"a":"[redacted]"}`), nil)))
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"postgres://a:b@c/d", "Authorization: Bearer x", `{"password":"x"}`, "password='", "a:b@tcp(",
		"-----BEGIN PRIVATE KEY-----",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := redact.Text(s)
		if twice := redact.Text(once); twice != once {
			t.Errorf("%q became %q, then %q", s, once, twice)
		}
	})
}

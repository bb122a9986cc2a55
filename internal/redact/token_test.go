package redact_test

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/redact"
)

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	number = "0123456789"
	letter = lower + upper + number
	hexed  = number + "abcdef"
)

// made returns so many characters of an alphabet.
func made(r *rand.Rand, alphabet string, n int) string {
	var out strings.Builder
	for range n {
		out.WriteByte(alphabet[r.IntN(len(alphabet))])
	}
	return out.String()
}

// madeTokens returns one synthetic token of each form. They are put together
// here, so that no scanner of sources finds any.
func madeTokens(r *rand.Rand) map[string]string {
	m := func(alphabet string, n int) string { return made(r, alphabet, n) }
	b64 := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	word := letter + "_-"
	return map[string]string{
		"AWS":                 "AKI" + "A" + m(upper+"234567", 16),
		"AWS temporary":       "ASI" + "A" + m(upper+"234567", 16),
		"GitHub":              "gh" + "p_" + m(letter, 36),
		"GitHub OAuth":        "gh" + "o_" + m(letter, 36),
		"GitHub server":       "gh" + "s_" + m(letter, 36),
		"GitHub fine-grained": "github" + "_pat_" + m(letter, 22) + "_" + m(letter, 59),
		"GitLab":              "glp" + "at-" + m(word, 19) + "x",
		"GitLab deploy":       "gld" + "t-" + m(word, 19) + "x",
		"Slack bot":           "xox" + "b-" + m(number, 12) + "-" + m(number, 12) + "-" + m(letter, 24),
		"Slack user":          "xox" + "p-" + m(number, 12) + "-" + m(number, 12) + "-" + m(hexed, 32),
		"Slack app":           "xap" + "p-1-A" + m(upper+number, 10) + "-" + m(number, 12) + "-" + m(hexed, 64),
		"Slack webhook": "hooks.slack" + ".com/services/T" + m(upper+number, 8) + "/B" + m(upper+number, 8) + "/" +
			m(letter, 24),
		"Stripe":            "sk" + "_live_" + m(letter, 24),
		"Stripe test":       "sk" + "_test_" + m(letter, 99),
		"Stripe restricted": "rk" + "_live_" + m(letter, 24),
		"Stripe webhook":    "whs" + "ec_" + m(letter, 32),
		"JWT":               b64(`{"alg":"HS256","typ":"JWT"}`) + "." + b64(`{"sub":"1234567890"}`) + "." + m(word, 42) + "x",
		"PEM": "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + m(letter, 64) + "\n-----END RSA PRIV" +
			"ATE KEY-----",
		"PEM, OpenSSH": "-----BEGIN OPENSSH PRIV" + "ATE KEY-----\n" + m(letter, 64) + "\n-----END OPENSSH PRIV" +
			"ATE KEY-----",
		"Google":            "AI" + "za" + m(word, 34) + "x",
		"Google OAuth":      "ya" + "29." + m(word, 100) + "x",
		"Google client":     "GOC" + "SPX-" + m(word, 27) + "x",
		"SendGrid":          "S" + "G." + m(letter, 20) + "7a." + m(letter, 43),
		"Twilio":            "S" + "K" + m(hexed, 32),
		"npm":               "np" + "m_" + m(letter, 36),
		"PyPI":              "py" + "pi-AgEIcHlwaS5vcmc" + m(word, 60) + "x",
		"RubyGems":          "rubyg" + "ems_" + m(hexed, 48),
		"Docker":            "dck" + "r_pat_" + m(word, 26) + "x",
		"Azure storage":     m(letter+"+/", 84) + "a1" + "==",
		"Azure application": m(letter, 3) + "8" + "Q~" + m(letter, 34),
		"Mailgun":           "ke" + "y-" + m(hexed, 32),
		"Mailchimp":         m(hexed, 32) + "-u" + "s12",
		"DigitalOcean":      "do" + "p_v1_" + m(hexed, 64),
		"Shopify":           "shp" + "at_" + m(hexed, 32),
		"Shopify secret":    "shp" + "ss_" + m(hexed, 32),
		"Square":            "sq0" + "atp-" + m(word, 21) + "x",
		"Telegram":          m("123456789", 9) + ":A" + "A" + m(word, 32) + "x",
		"Discord":           "M" + m(letter, 21) + "7a." + m(letter, 6) + "." + m(word, 37) + "x",
		"OpenAI project":    "sk" + "-proj-" + m(word, 47) + "x",
		"OpenAI":            "s" + "k-" + m(letter, 18) + "7aT3Blbk" + "FJ" + m(letter, 20),
		"Anthropic":         "sk" + "-ant-api03-" + m(word, 92) + "x",
		"Hugging Face":      "h" + "f_" + m(letter, 34),
		"Databricks":        "da" + "pi" + m(hexed, 32),
		"Linear":            "lin" + "_api_" + m(letter, 40),
		"Notion":            "nt" + "n_" + m(letter, 46),
		"Airtable":          "pa" + "t" + m(letter, 14) + "." + m(hexed, 62) + "7a",
		"Postman":           "PM" + "AK-" + m(hexed, 24) + "-" + m(hexed, 34),
		"Grafana":           "gl" + "sa_" + m(letter, 32) + "_" + m(hexed, 8),
		"New Relic":         "NR" + "AK-" + m(upper+number, 27),
		"Vault":             "hv" + "s." + m(letter, 24),
		"Terraform":         m(letter, 14) + ".atlas" + "v1." + m(letter, 67),
		"Atlassian":         "ATA" + "TT3x" + m(word, 180) + "x",
		"age":               "AGE-SECRET" + "-KEY-1" + m(upper+number, 58),
		"Plaid": "access-prod" + "uction-" + m(hexed, 8) + "-" + m(hexed, 4) + "-" + m(hexed, 4) + "-" +
			m(hexed, 4) + "-" + m(hexed, 12),
		"HubSpot": "pat-n" + "a1-" + m(hexed, 8) + "-" + m(hexed, 4) + "-" + m(hexed, 4) + "-" + m(hexed, 4) + "-" +
			m(hexed, 12),
		"Sentry":    "sntr" + "yu_" + m(hexed, 64),
		"Supabase":  "sb" + "p_" + m(hexed, 40),
		"Okta":      "SS" + "WS 00" + m(letter, 40),
		"Buildkite": "bk" + "ua_" + m(hexed, 40),
		"Pulumi":    "pu" + "l-" + m(hexed, 40),
	}
}

// Tokens of well-known forms are hidden, in sentences, code, JSON and URLs.
func TestWellKnownTokens(t *testing.T) {
	t.Parallel()

	places := []string{
		"%s", "use %s, please", "key: %s.", `const k = "%s";`, "x=%s&y=1", "line one\n%s\nline three", "https://%s",
		`{"note":"it is %s"}`,
	}
	total, missed := 0, make(map[string]int)
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 5))
		all := madeTokens(r)
		require.GreaterOrEqual(t, len(all), 50)
		for name, token := range all {
			place := places[r.IntN(len(places))]
			shown := redact.Text(fmt.Sprintf(place, token))
			if strings.HasPrefix(place, "{") {
				quoted, err := json.Marshal("it is " + token)
				require.NoError(t, err)
				shown = string(redact.JSON(json.RawMessage(`{"note":` + string(quoted) + `}`)))
			}
			total++
			if strings.Contains(shown, token[len(token)/2:]) {
				missed[name]++
			}
		}
	}
	wrong := 0
	for _, n := range missed {
		wrong += n
	}
	t.Logf("%d of %d found; missed: %v", total-wrong, total, missed)
	require.LessOrEqual(t, wrong*10, total, "at least 90 %% are found; missed: %v", missed)
}

// ordinary returns lines that hold no secret.
func ordinary(r *rand.Rand) []string {
	sum256, sum512 := sha256.Sum256([]byte(made(r, letter, 9))), sha512.Sum512([]byte(made(r, letter, 9)))
	id := fmt.Sprintf("%s-%s-4%s-a%s-%s", made(r, hexed, 8), made(r, hexed, 4), made(r, hexed, 3), made(r, hexed, 3),
		made(r, hexed, 12))
	image := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"),
		made(r, letter+"\x00\xff\x80\x01", 300)...))
	return []string{
		"The author of the passage said that the secret of a good cook is patience, and a token of thanks.",
		"Enter your password: it must have at least 12 characters. Forgotten passwords can be reset by mail.",
		"Use a bearer token for authentication; basic authentication is deprecated since version 2.",
		"Your session expires in 30 minutes. The cookie banner can be closed by pressing the Escape key.",
		`if err := s.store.Find(ctx, key); err != nil { return fmt.Errorf("finding %q: %w", key, err) }`,
		`for (const [key, value] of Object.entries(headers)) { request.setHeader(key, value); }`,
		`def authorize(self, user, scopes=None): return self.client.post("/authorize", json={"user": user.id})`,
		"SELECT id, primary_key, sort_key FROM tokens_per_minute WHERE max_tokens > 100 AND author = 'Ada';",
		`token := parser.Next(); if token.Kind == lexer.Identifier { names = append(names, token.Text) }`,
		"2026-04-01T10:30:00Z INFO request done method=GET path=/v1/orders status=200 duration_ms=12 request_id=" + id,
		"level=warn msg=\"retrying\" attempt=3 next_token_page=2 tokens_used=512 run_id=" + id,
		"commit " + hex.EncodeToString(sum256[:20]) + " (HEAD -> main) Author: Ada <ada@example.com>",
		"sha256:" + hex.EncodeToString(sum256[:]),
		`"integrity": "sha512-` + base64.StdEncoding.EncodeToString(sum512[:]) + `"`,
		"github.com/example/module v1.2.3 h1:" + base64.StdEncoding.EncodeToString(sum256[:]) + "=",
		"data:image/png;base64," + image,
		id + "," + made(r, number, 6) + ",shipped,12.50,EUR",
		"https://shop.example.com/orders/" + id + "?page=2&page_token=" + made(r, letter, 12) + "&max_tokens=300",
		"arn:aws:iam::123456789012:role/deploy", "ETag: \"" + made(r, hexed, 32) + "\"", "0x" + made(r, hexed, 40),
		"docker run --rm -p 8080:80 --name web nginx:1.25 && mkdir -p /var/lib/app",
		"curl -sS -X POST https://api.example.com/v1/runs -H 'Content-Type: application/json' -d '{\"input\": 1}'",
		"tar -xzf archive.tar.gz -C /opt --strip-components=1; ls -la --color=auto",
		"The --password flag is deprecated: pass a file with --password-file instead.",
		`{"max_tokens": 100, "token_limit": 5, "primary_key": "id", "password_policy": "strong", "secret_count": 3}`,
		"const sk_test = require('./sk_test_helper'); // a test of the skeleton",
		"key-value pairs, key-" + made(r, lower, 8) + ", task-" + made(r, number, 4) + ", sk-learn and hf_hub are names",
		"Der Schlüssel liegt unter der Matte. La contraseña se puede cambiar. 暗証番号は四桁です。",
		"Dear Sir or Madam, please find attached invoice no. " + made(r, number, 10) + " of March 12, due in 30 days.",
		`<div class="session-card" id="k` + made(r, hexed, 6) + `"><a href="/reset?step=2">Reset password</a></div>`,
		"AKIAMO is a village; ASIAN markets closed higher; AIzawl is spelled Aizawl.",
		"MX record 10 mail.example.com TTL=3600; v=spf1 include:_spf.example.com ~all",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + made(r, letter+"+/", 43) + " ada@example.com",
		base64.StdEncoding.EncodeToString([]byte("nothing of interest is in this sentence about " + made(r, lower, 20))),
		"-----BEGIN CERTIFICATE-----\n" + made(r, letter+"+/", 64) + "\n-----END CERTIFICATE-----",
		"Auth: see chapter 4. Key: C major. Pass: 3 of 5. Pin: the red one. Signature: int Sum(int a, int b)",
	}
}

// What is no secret stays as it is: in English, code, logs, ids, hashes and
// pictures.
func TestOrdinaryTextIsLeft(t *testing.T) {
	t.Parallel()

	total, changed := 0, make(map[string]string)
	wrong := 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 6))
		for i, line := range ordinary(r) {
			total++
			if shown := redact.Text(line); shown != line {
				wrong++
				changed[strconv.Itoa(i)] = shown
			}
		}
	}
	t.Logf("%d of %d lines are changed: %v", wrong, total, changed)
	require.LessOrEqual(t, wrong*20, total, "at most 5 %%: %v", changed)
}

// Credentials on command lines are hidden, and the rest of the line is not.
func TestCommandLines(t *testing.T) {
	t.Parallel()

	const s = "hush4f1c"
	for _, line := range []string{
		"tool --password §", "tool --password=§ --verbose", "tool --api-key '§' run", `tool --client-secret "§"`,
		"tool -token §",
		"mysql -u root -p§ shop", "mysqldump --user=root -p '§' shop", "PGPASSWORD=§ psql -h db shop", "export API_KEY=§",
		"sshpass -p § ssh host",
		"curl -u ada:§ https://api.example.com", "curl --user 'ada:§' https://api.example.com", "redis-cli -a § ping",
		"docker login -u ada -p § registry.example.com",
		`curl -H "Authorization: Basic §§==" https://api.example.com`, `curl -H 'X-Api-Key: §' https://api.example.com`,
		"wget --http-password=§ https://x.example",
		"curl -x http://ada:§@proxy:3128 https://x.example", "az storage blob list --account-key §",
		`psql "host=db password=§ dbname=x"`,
	} {
		shown := redact.Text(strings.ReplaceAll(line, "§", s))
		require.NotContains(t, shown, s, line)
		require.Contains(t, shown, line[:3], line)
		require.Equal(t, shown, redact.Text(shown))
	}
	args := redact.JSON(json.RawMessage(`["tool","--password","hush4f1c","--name","x"]`))
	require.JSONEq(t, `["tool","--password","[redacted]","--name","x"]`, string(args))
}

// Names and values that are members of their own, texts that hold members, and
// signatures of URLs.
func TestNamesBesideValues(t *testing.T) {
	t.Parallel()

	const s = "hush4f1c"
	for _, in := range []string{
		`{"name":"password","value":"§"}`, `{"Name":"DB_PASSWORD","Value":"§"}`, `[{"key":"api_key","value":"§"}]`,
		`{"k":"token","v":"§"}`,
		`{"field":"clientSecret","val":"§"}`, `{"headers":[{"key":"DD-API-KEY","values":["§"]}]}`,
		`{"url":"https://b.example/x?X-Amz-Signature=§&X-Amz-Date=1"}`,
		`{"url":"https://b.example/x?sv=1&sig=§"}`, `{"url":"https://b.example/x?Expires=1&Signature=§"}`,
		`{"x":"{\"password\":\"§\"} and more"}`,
		`{"x":"said {\\\"api_key\\\":\\\"§\\\"}"}`, `{"x":"<login><password>§</password></login>"}`,
		`{"x":"user: ada\npassword: §\nhost: db"}`,
		`{"x":"GET / HTTP/1.1\r\nAuthorization: Basic §§==\r\nAccept: */*"}`, `{"smtppassword":"§"}`,
	} {
		in = strings.ReplaceAll(in, "§", s)
		require.True(t, json.Valid([]byte(in)), in)
		shown := string(redact.JSON(json.RawMessage(in)))
		require.NotContains(t, shown, s, in)
		require.True(t, json.Valid([]byte(shown)), shown)
		require.JSONEq(t, shown, string(redact.JSON(json.RawMessage(shown))), in)
	}
}

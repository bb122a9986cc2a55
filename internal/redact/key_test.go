package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/redact"
)

var sensitive = strings.Fields(`
	password Password PASSWORD passwd pwd passphrase passcode user_password db_password dbPassword DB_PASSWORD new-password oldPassword
	secret secrets client_secret clientSecret CLIENT_SECRET app-secret shared_secret webhook_secret signing_secret secret_key secretKey aws_secret_access_key
	AWS_SECRET_ACCESS_KEY token Token access_token accessToken refresh_token refreshToken id_token idToken auth_token authToken bearer_token api_token
	personal_access_token session_token sessionToken csrf_token xsrfToken X-CSRF-Token x-auth-token device_token slack_token github_token TOKEN
	api_key apiKey apikey APIKEY ApiKey API_KEY X-API-Key x-api-key openai_api_key OPENAI_API_KEY api-keys apikeys access_key accessKey accesskey access_key_id_secret
	private_key privateKey PrivateKey PRIVATE-KEY ssh_private_key private_key_pem signing_key signingKey encryption_key encryptionKey master_key account_key
	AccountKey shared_access_key storage_key service_key service_role_key deploy_key hmac_key license_key auth_key app_key ssh_key webhook_key
	authorization Authorization AUTHORIZATION proxy-authorization Proxy-Authorization x-authorization bearer auth cookie Cookie Set-Cookie cookies session_cookie
	credential credentials aws_credentials credentials_json jwt jwt_assertion otp totp totp_seed cvv cvc card_number cardNumber pin pin_code dsn sentry_dsn DATABASE_URL
	database_url databaseUrl connection_string connectionString session_id sessionId sessionid sid session_key recovery_code recovery_codes backup_codes
	client_assertion saml_assertion smtp_pass db_pass pass security_code verification_code basic_auth one_time_code sas_token signature htpasswd
	accesstoken refreshtoken clientsecret secretkey privatekey authtoken
`)

var harmless = strings.Fields(`
	max_tokens maxTokens MAX_TOKENS min_tokens num_tokens token_count tokenCount tokens_used token_limit token_budget prompt_tokens completion_tokens
	total_tokens input_tokens output_tokens cached_tokens reasoning_tokens tokens_per_minute token_type token_endpoint tokenUrl token_url token_expiry token_ttl
	tokenizer tokenize page_token nextPageToken continuation_token cursor_token
	primary_key primaryKey foreign_key public_key publicKey sort_key partition_key key keys key_name keyboard hotkey monkey turkey idempotency_key cache_key
	routing_key object_key key_id map_key keyword keywords
	author authors authority authored_by author_id co_author authoring authorized authorize_url
	credentials_ref credential_id credential_name secret_name secret_ref secretRef secrets_enabled password_policy password_length password_hint api_key_id
	password_expires_at secret_version api_key_name token_id private_key_id private_key_path_hint cookie_policy jwt_algorithm otp_enabled
	passenger passage compass compassion bypass passport passed pass_rate secretary secretariat
	name title description url method headers query body session sessions session_timeout signature_algorithm pinned pins spin pint opinion
	certificate cert_fingerprint oauth oauth_provider side inside sidecar bear bearing cook cookbook dns
`)

func TestSensitiveKey(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(sensitive), 100)

	for _, name := range sensitive {
		require.True(t, redact.SensitiveKey(name), name)
	}
	for _, name := range harmless {
		require.False(t, redact.SensitiveKey(name), name)
	}
	require.False(t, redact.SensitiveKey(""))
	require.False(t, redact.SensitiveKey("---"))
}

func TestJSON(t *testing.T) {
	t.Parallel()

	in := `{"url": "https://x.example", "apiKey": "k", "max_tokens": 10, "nested": [{"deep": {"Authorization": ["a"], "n": 1.10}}],
		"password": null, "token": true, "secret": {"a": 1}, "credentials_ref": "orders", "pin": 1234, "html": "<b>",
		"headers": {"X-API-Key": {"from": "/key"}, "X-Token": {"from": "/key", "value": "k"}, "X-Auth": {"from": "k"}}}`
	require.Equal(t, //nolint:testifylint // Number spellings count.
		`{"apiKey":"[redacted]","credentials_ref":"orders","headers":{"X-API-Key":{"from":"/key"},"X-Auth":"[redacted]","X-Token":"[redacted]"},"html":"<b>","max_tokens":10,`+
			`"nested":[{"deep":{"Authorization":"[redacted]","n":1.10}}],"password":null,"pin":"[redacted]","secret":"[redacted]","token":true,"url":"https://x.example"}`,
		string(redact.JSON(json.RawMessage(in))))
	require.Equal(t, `"[redacted]"`, string(redact.JSON(json.RawMessage(`password: x`))))
	require.Empty(t, redact.JSON(nil))
	require.Equal(t, `[1]`, string(redact.JSON(json.RawMessage(` [1] `))))
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a": {"password": [1, {"b": 2}]}}`)
	f.Add(`[{"token": "x"}, 1e999]`)
	f.Fuzz(func(t *testing.T, text string) {
		if got := redact.JSON(json.RawMessage(text)); strings.TrimSpace(text) != "" && !json.Valid(got) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

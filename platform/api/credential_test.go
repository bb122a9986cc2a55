package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// withKeys gives a server a key-encryption key.
func withKeys(t *testing.T) func(*api.Config) {
	t.Helper()
	keys, err := vault.ParseKeys(vault.GenerateKey())
	require.NoError(t, err)
	return func(cfg *api.Config) { cfg.Vault = vault.New(cfg.Store, vault.Options{Keys: keys}) }
}

// reset empties a credential, for an answer that leaves out what is not there.
func reset(c *v1.Credential) *v1.Credential {
	*c = v1.Credential{}
	return c
}

const planted = "tc-planted-value-7f3a91"

func newCredential(ref string) string {
	return `{"ref":"` + ref + `","value":"` + planted + `","hosts":["api.example.com"]}`
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	b := setup(t, withKeys(t))
	seen := &strings.Builder{}
	do := func(method, path, body string, want int) answer {
		t.Helper()
		got := b.do(t, method, path, body)
		require.Equal(t, want, got.status, string(got.body))
		seen.Write(got.body)
		return got
	}
	var c v1.Credential
	made := do(http.MethodPost, "/v1/credentials", `{"ref":"shop","value":"`+planted+`","hosts":["API.example.com"],
		"category":"custom","provider_key":"serper","expires_at":"2099-12-31T23:59:59Z"}`, http.StatusCreated)
	made.into(t, &c)
	require.Equal(t, "/v1/credentials/shop", made.header.Get("Location"))
	require.Equal(t, []string{"api.example.com"}, c.Hosts)
	require.Equal(t, "[redacted]", c.Value)
	require.Equal(t, "serper", c.Provider)
	do(http.MethodPost, "/v1/credentials", newCredential("shop"), http.StatusConflict)
	do(http.MethodPost, "/v1/credentials", `{"ref":"x","value":"`+planted+`"}`, http.StatusUnprocessableEntity)
	do(http.MethodPost, "/v1/credentials", `{"ref":"x","value":["`+planted+`"],"hosts":[]}`,
		http.StatusUnprocessableEntity)
	do(http.MethodPost, "/v1/credentials", `{"ref":"x","value":"`+planted+`","hosts":[],"vlaue":"`+planted+`"}`,
		http.StatusUnprocessableEntity)
	do(http.MethodPost, "/v1/credentials", `{"ref":"x","value":"`+planted+`","hosts":["https://x"]}`,
		http.StatusUnprocessableEntity)
	do(http.MethodPost, "/v1/credentials", `{"ref":"x","value":"`+planted, http.StatusBadRequest)

	found := do(http.MethodGet, "/v1/credentials/"+c.ID, "", http.StatusOK)
	tag := found.header.Get("Etag")
	require.NotEmpty(t, tag)
	// What is shown, sent back, changes nothing of the value.
	changed := b.send(t, http.MethodPut, "/v1/credentials/shop", `{"value":"[redacted]","hosts":["api.example.com"]}`,
		map[string]string{"If-Match": tag})
	require.Equal(t, http.StatusOK, changed.status, string(changed.body))
	changed.into(t, &c)
	require.Equal(t, 1, c.Version)
	stale := b.send(t, http.MethodPut, "/v1/credentials/shop", `{"value":"other"}`, map[string]string{"If-Match": tag})
	require.Equal(t, http.StatusPreconditionFailed, stale.status, string(stale.body))
	do(http.MethodPut, "/v1/credentials/shop", `{"hosts":["api.example.com","evil.example.com"]}`, http.StatusForbidden)
	do(http.MethodPut, "/v1/credentials/shop", `{"value":"`+planted+`-2","hosts":["b.example.com"],"no_expiry":true}`,
		http.StatusOK).into(t, reset(&c))
	require.Equal(t, 2, c.Version)
	require.Nil(t, c.ExpiresAt)
	do(http.MethodPut, "/v1/credentials/shop", `{"hosts":[]}`, http.StatusOK).into(t, reset(&c))
	require.Empty(t, c.Hosts)
	do(http.MethodPut, "/v1/credentials/shop", `{"use":{}}`, http.StatusOK).into(t, reset(&c))
	require.Empty(t, c.Provider)

	do(http.MethodPost, "/v1/credentials", newCredential("another"), http.StatusCreated)
	var page v1.Page[v1.Credential]
	do(http.MethodGet, "/v1/credentials?limit=1", "", http.StatusOK).into(t, &page)
	require.Equal(t, "another", page.Items[0].Ref)
	var last v1.Page[v1.Credential]
	do(http.MethodGet, "/v1/credentials?limit=1&cursor="+page.Next, "", http.StatusOK).into(t, &last)
	require.Equal(t, "shop", last.Items[0].Ref)
	require.Empty(t, last.Next)

	do(http.MethodDelete, "/v1/credentials/shop", "", http.StatusOK).into(t, &c)
	require.NotNil(t, c.RevokedAt)
	do(http.MethodDelete, "/v1/credentials/shop", "", http.StatusNotFound)
	do(http.MethodGet, "/v1/credentials/"+c.ID, "", http.StatusNotFound)
	require.NotContains(t, seen.String(), planted, "no answer repeats a value")
	require.NotContains(t, b.log.String(), planted)
}

func TestCredentialPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t, withKeys(t))
	reader := b.Key(t, b.tenant, api.CredentialsRead)
	require.Equal(
		t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/credentials", newCredential("shop"), reader).status,
	)
	require.Equal(
		t, http.StatusCreated,
		b.do(t, http.MethodPost, "/v1/credentials", newCredential("shop"), b.Key(t, b.tenant, api.CredentialsWrite)).status,
	)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/credentials/shop", "", reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodDelete, "/v1/credentials/shop", "", reader).status)
	require.Equal(
		t, http.StatusForbidden, b.do(t, http.MethodGet, "/v1/credentials", "", b.Key(t, b.tenant, api.ToolsWrite)).status,
	)
}

// A server without a key-encryption key says what to configure, lists what
// there is, and lets it be revoked.
func TestCredentialsWithoutKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, header := range []map[string]string{nil, {"Idempotency-Key": "k"}} {
		got := b.send(t, http.MethodPost, "/v1/credentials", newCredential("shop"), header)
		p := got.problem(t)
		require.Equal(t, v1.ProblemsPath+"/"+v1.EncryptionMissing, p.Type)
		require.Equal(t, tool.Unavailable, p.Code)
		require.False(t, p.Retryable)
		require.Contains(t, p.Detail, vault.FileVariable)
	}
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/credentials", "").status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodPut, "/v1/credentials/none", `{"value":"x"}`).status)
}

// A request that holds a secret is served once, and what is stored of it does
// not help to guess the secret.
func TestConfidentialRequestIsServedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, withKeys(t))
	key := map[string]string{"Idempotency-Key": "guessable"}
	first := b.send(t, http.MethodPost, "/v1/credentials", newCredential("shop"), key)
	require.Equal(t, http.StatusCreated, first.status, string(first.body))
	again := b.send(t, http.MethodPost, "/v1/credentials", newCredential("shop"), key)
	require.Equal(t, http.StatusCreated, again.status)
	require.Equal(t, "true", again.header.Get(api.ReplayedHeader))
	require.Equal(t, string(first.body), string(again.body))
	other := b.send(t, http.MethodPost, "/v1/credentials", strings.Replace(newCredential("shop"), planted, "other", 1),
		key)
	require.Equal(t, v1.ProblemsPath+"/"+v1.KeyReused, other.problem(t).Type)

	// The same request of another tenant, under the same key, has another digest:
	// it is keyed.
	stranger := b.Tenant(t)
	same := b.send(t, http.MethodPost, "/v1/credentials", newCredential("shop"), key, b.Key(t, stranger, "*"))
	require.Equal(t, http.StatusCreated, same.status)
	var kept, digests int
	var rows string
	require.NoError(t, b.Conn(t).QueryRow(t.Context(),
		"select count(*), count(distinct digest), string_agg(k::text || convert_from(body, 'UTF8'), ' ') from "+
			"idempotency_keys k").Scan(&kept, &digests, &rows))
	require.Equal(t, 2, kept)
	require.Equal(t, 2, digests)
	require.NotContains(t, rows, planted)
}

func TestCredentialAnswersNameNoValueField(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(v1.FromCredential(vault.Credential{Ref: "shop"}))
	require.NoError(t, err)
	require.Contains(t, string(raw), `"value":"[redacted]"`)
	require.Contains(t, string(raw), `"hosts":[]`)
}

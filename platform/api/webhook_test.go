package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/vault"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

const webhooksPath = "/v1/webhooks"

// seedWebhook makes a webhook of the bundle's tenant, without a key-encryption key.
func seedWebhook(t *testing.T, b *bundle) webhook.Webhook {
	t.Helper()
	made, err := b.Store.CreateWebhook(t.Context(), webhook.Webhook{
		ID: uuid.Must(uuid.NewV7()).String(), Tenant: b.tenant, URL: "https://example.com/theirs", Active: true,
		Types: []tool.EventType{webhook.EventQuarantined}, Secret: vault.Text{KeyVersion: 1, Ciphertext: []byte("x")},
	})
	require.NoError(t, err)
	return made
}

func TestWebhooks(t *testing.T) {
	t.Parallel()

	b := setup(t, withKeys(t))
	b.refund(t)
	clerk, subject := b.principal(t, "webhooks.read", "webhooks.write")
	const body = `{"url":"https://example.com/hooks","types":["run.failed","tool.needs_approval"],"description":"desk"}`
	key := map[string]string{"Idempotency-Key": "one"}
	first := b.send(t, http.MethodPost, webhooksPath, body, key, clerk)
	made := as[v1.WebhookSecret](t, first, http.StatusCreated)
	require.True(t, strings.HasPrefix(made.Secret, "whsec_"))
	require.True(t, made.Active)
	require.Equal(t, subject, made.CreatedBy)
	require.Equal(t, []tool.EventType{"run.failed", "tool.needs_approval"}, made.Types)
	path := webhooksPath + "/" + made.ID
	require.Equal(t, path, first.header.Get("Location"))
	again := b.send(t, http.MethodPost, webhooksPath, body, key, clerk)
	require.Equal(t, http.StatusConflict, again.status, "the answer held a secret")
	require.NotContains(t, string(again.body), made.Secret)

	found := b.do(t, http.MethodGet, path, "", clerk)
	require.Equal(t, made.Webhook, as[v1.Webhook](t, found, http.StatusOK))
	require.NotContains(t, string(found.body), "whsec_")
	tag := map[string]string{"If-Match": found.header.Get("Etag")}
	changed := as[v1.Webhook](t, b.send(t, http.MethodPut, path, `{"active":false,"types":["run.failed"]}`, tag, clerk),
		http.StatusOK)
	require.False(t, changed.Active)
	require.Equal(t, "desk", changed.Description)
	require.Equal(t, []tool.EventType{"run.failed"}, changed.Types)
	for _, method := range []string{http.MethodPut, http.MethodDelete} {
		stale := b.send(t, method, path, `{}`, tag, clerk)
		require.Equal(t, http.StatusPreconditionFailed, stale.status, method)
	}
	require.Equal(t, http.StatusPreconditionFailed, b.send(t, http.MethodPost, path+"/rotate", `{}`, tag, clerk).status)
	rotated := as[v1.WebhookSecret](t, b.do(t, http.MethodPost, path+"/rotate", "", clerk), http.StatusOK)
	require.NotEqual(t, made.Secret, rotated.Secret)
	require.NotNil(t, rotated.OldSecretUntil)
	require.Equal(t, 2, rotated.SecretVersion)
	rotated = as[v1.WebhookSecret](t, b.do(t, http.MethodPost, path+"/rotate", `{"overlap_s":0}`, clerk), http.StatusOK)
	require.Nil(t, rotated.OldSecretUntil)

	ping := as[v1.Delivery](t, b.do(t, http.MethodPost, path+"/ping", "", clerk), http.StatusAccepted)
	require.Equal(t, webhook.EventPing, ping.Type)
	require.Equal(t, webhook.Pending, ping.Status)
	require.NotNil(t, ping.NextAttemptAt)
	second := as[v1.Delivery](t, b.do(t, http.MethodPost, path+"/ping", "", clerk), http.StatusAccepted)
	deliveries := path + "/deliveries"
	page := as[v1.Page[v1.Delivery]](t, b.do(t, http.MethodGet, deliveries+"?limit=1", "", clerk), http.StatusOK)
	require.Equal(t, []v1.Delivery{second}, page.Items)
	page = as[v1.Page[v1.Delivery]](t, b.do(t, http.MethodGet, deliveries+"?limit=1&cursor="+page.Next, "", clerk),
		http.StatusOK)
	require.Equal(t, []v1.Delivery{ping}, page.Items)
	page = as[v1.Page[v1.Delivery]](t, b.do(t, http.MethodGet, deliveries+"?status=failed", "", clerk), http.StatusOK)
	require.Empty(t, page.Items)
	require.Equal(t, ping, as[v1.Delivery](t, b.do(t, http.MethodGet, deliveries+"/"+ping.ID, "", clerk), http.StatusOK))
	replay := deliveries + "/" + ping.ID + "/replay"
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, replay, "", clerk).status, "it is pending")
	_, err := b.Conn(t).Exec(t.Context(),
		"update webhook_deliveries set status = 'failed', ended_at = now(), attempts = 10 where id = $1", ping.ID)
	require.NoError(t, err)
	replayed := as[v1.Delivery](t, b.do(t, http.MethodPost, replay, "", clerk), http.StatusAccepted)
	require.Equal(t, ping.ID, replayed.ID)
	require.Equal(t, 1, replayed.Replays)
	require.Zero(t, replayed.Attempts)

	require.NotContains(t, b.log.String(), "whsec_")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, path, "", clerk).status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, deliveries, "", clerk).status)
	list := as[v1.Page[v1.Webhook]](t, b.do(t, http.MethodGet, webhooksPath, "", clerk), http.StatusOK)
	require.Empty(t, list.Items)
}

func TestWebhooksAreRefused(t *testing.T) {
	t.Parallel()

	b := setup(t, withKeys(t))
	b.refund(t)
	for name, c := range map[string]struct {
		body string
		kind tool.Kind
		path string
	}{
		"no type":             {`{"url":"https://example.com","types":[]}`, tool.Invalid, "/types"},
		"an unknown type":     {`{"url":"https://example.com","types":["run.ended"]}`, tool.Invalid, "/types/0"},
		"the ping":            {`{"url":"https://example.com","types":["webhook.ping"]}`, tool.Invalid, "/types/0"},
		"no URL":              {`{"url":"example.com","types":["run.failed"]}`, tool.Invalid, "/url"},
		"plain http":          {`{"url":"http://example.com","types":["run.failed"]}`, tool.Invalid, "/url"},
		"a password":          {`{"url":"https://u:p@example.com","types":["run.failed"]}`, tool.Invalid, "/url"},
		"a type without tool": {`{"url":"https://example.com","types":["run.failed"],"tool":"refund"}`, tool.Invalid, "/types/0"},
		"an unknown tool":     {`{"url":"https://example.com","types":["tool.pending"],"tool":"refnd"}`, tool.NotFound, ""},
		"an unknown agent":    {`{"url":"https://example.com","types":["run.failed"],"agent":"desk"}`, tool.NotFound, ""},
		"a misspelt member":   {`{"url":"https://example.com","types":["run.failed"],"agnet":"desk"}`, tool.Invalid, "/agnet"},
	} {
		p := b.do(t, http.MethodPost, webhooksPath, c.body).problem(t)
		require.Equal(t, c.kind, p.Code, "%s: %s", name, p.Detail)
		require.Equal(t, c.path, p.Path, "%s: %s", name, p.Detail)
	}
	made := as[v1.WebhookSecret](t, b.do(t, http.MethodPost, webhooksPath,
		`{"url":"https://example.com","types":["run.failed"]}`), http.StatusCreated)
	p := b.do(t, http.MethodPost, webhooksPath+"/"+made.ID+"/rotate", `{"overlap_s":700000}`).problem(t)
	require.Equal(t, "/overlap_s", p.Path)
	reader, _ := b.principal(t, "webhooks.read")
	for _, path := range []string{"", "/" + made.ID + "/rotate", "/" + made.ID + "/ping"} {
		require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, webhooksPath+path, "", reader).status, path)
	}
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, webhooksPath+"/"+made.ID, "", reader).status)

	bare := setup(t)
	p = bare.do(t, http.MethodPost, webhooksPath, `{"url":"https://example.com","types":["run.failed"]}`).problem(t)
	require.Contains(t, p.Detail, "key-encryption key")
}

// The description has the types of events, from the list of them.
func TestWebhooksAreDescribed(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Items struct{ Enum []string }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(b.do(t, http.MethodGet, "/openapi.json", "", "").body, &doc))
	require.Equal(t, webhook.EventTypes(), doc.Components.Schemas["NewWebhook"].Properties["types"].Items.Enum)
}

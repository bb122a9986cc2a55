package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/tool"
)

func (b *bundle) quota(t *testing.T, tenant tool.TenantID, name quota.Name, most int64) {
	t.Helper()
	require.NoError(t, b.Platform.Quotas().SetQuota(t.Context(), quota.Rule{Tenant: tenant, Name: name, Limit: &most}))
}

func (b *bundle) quotas(t *testing.T, key ...string) map[string]v1.Quota {
	t.Helper()
	out := map[string]v1.Quota{}
	for _, q := range as[v1.Page[v1.Quota]](t, b.do(t, http.MethodGet, "/v1/quotas", "", key...), http.StatusOK).Items {
		out[q.Name] = q
	}
	require.Len(t, out, len(quota.All()))
	return out
}

// Of parallel requests as many succeed as the quota allows; the others say which quota it is, how
// much is used, and what to do. Deleting makes room, and another tenant is not held up.
func TestQuotaOfTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const most, tries = 50, 100
	b.quota(t, b.tenant, quota.Tools, most)
	answers := make([]answer, tries)
	var group sync.WaitGroup
	for i := range tries {
		group.Go(func() { answers[i] = b.do(t, http.MethodPost, "/v1/tools", draft("t"+strconv.Itoa(i))) })
	}
	group.Wait()
	made, gone := 0, ""
	for i, a := range answers {
		if a.status == http.StatusCreated {
			made++
			gone = "t" + strconv.Itoa(i)
			continue
		}
		require.Equal(t, http.StatusConflict, a.status, string(a.body))
		p := a.problem(t)
		require.Equal(t, &v1.QuotaUse{Name: "tools", Limit: most, Used: most}, p.Quota)
		require.Contains(t, p.Detail, `the tenant's quota "tools" is 50, and 50 are used: delete tools`)
		require.False(t, p.Retryable)
	}
	require.Equal(t, most, made)
	shown := b.quotas(t)["tools"]
	require.EqualValues(t, most, shown.Used)
	require.EqualValues(t, most, *shown.Limit)
	require.Equal(t, "tenant", shown.Origin)

	require.Less(t, b.do(t, http.MethodDelete, "/v1/tools/"+gone, "").status, 300)
	require.EqualValues(t, most-1, b.quotas(t)["tools"].Used)
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/tools", draft("another")).status)

	other := b.Key(t, b.Tenant(t), "*")
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/tools", draft("say"), other).status)
	theirs := b.quotas(t, other)["tools"]
	require.EqualValues(t, 1, theirs.Used)
	require.Nil(t, theirs.Limit)
	require.Equal(t, "none", theirs.Origin)
	require.Equal(t, http.StatusForbidden,
		b.do(t, http.MethodGet, "/v1/quotas", "", b.Key(t, b.tenant, api.ToolsRead)).status)
}

// Idempotency keys free themselves, so a refusal says when to try again; without a key the request
// is served. Runs have the limit of the server where the tenant has none.
func TestQuotasThatFreeThemselves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.quota(t, b.tenant, quota.IdempotencyKeys, 1)
	send := func(key, slug string) answer {
		return b.send(t, http.MethodPost, "/v1/tools", draft(slug), keyed(key))
	}
	require.Equal(t, http.StatusCreated, send("one", "first").status)
	require.Equal(t, http.StatusCreated, send("one", "first").status, "what is repeated takes no more")
	refused := send("two", "second")
	require.Equal(t, http.StatusTooManyRequests, refused.status, string(refused.body))
	require.Equal(t, "60", refused.header.Get("Retry-After"))
	p := refused.problem(t)
	require.Equal(t, "idempotency_keys", p.Quota.Name)
	require.True(t, p.Retryable)
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/tools", draft("second")).status)

	runs := b.quotas(t)["runs"]
	require.Equal(t, "servers", runs.Origin)
	require.EqualValues(t, 10_000, *runs.Limit)
	b.quota(t, b.tenant, quota.Runs, 7)
	runs = b.quotas(t)["runs"]
	require.Equal(t, "tenant", runs.Origin)
	require.EqualValues(t, 7, *runs.Limit)
}

// Each kind of thing is refused with its own quota, over the API. Documents need Temporal, which is not here.
func TestEveryQuotaRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/artifacts",
		`{"slug":"prog","language":"jq"}`).status)
	for name, creation := range map[quota.Name]func(n int) (path, body string){
		quota.Tools: func(n int) (string, string) { return "/v1/tools", draft("say" + strconv.Itoa(n)) },
		quota.Agents: func(n int) (string, string) {
			return "/v1/agents", fmt.Sprintf(`{"slug":"a%d","instructions":"Help.","model":"scripted/a"}`, n)
		},
		quota.StorageBytes: func(n int) (string, string) { return fmt.Sprintf("/v1/files?name=f%d.txt", n), "hello" },
		quota.Artifacts: func(n int) (string, string) {
			return "/v1/artifacts", fmt.Sprintf(`{"slug":"p%d","language":"jq"}`, n)
		},
		quota.ArtifactBytes: func(n int) (string, string) {
			return "/v1/artifacts/prog/versions", fmt.Sprintf(`{"source":".","version":"1.0.%d"}`, n)
		},
	} {
		path, body := creation(1)
		first := b.do(t, http.MethodPost, path, body)
		require.Less(t, first.status, 300, "%s: %s", name, first.body)
		used := b.quotas(t)[string(name)].Used
		require.Positive(t, used, name)
		b.quota(t, b.tenant, name, used)
		path, body = creation(2)
		refused := b.do(t, http.MethodPost, path, body)
		require.Equal(t, http.StatusConflict, refused.status, "%s: %s", name, refused.body)
		p := refused.problem(t)
		require.NotNil(t, p.Quota, "%s: %s", name, p.Detail)
		require.Equal(t, v1.QuotaUse{Name: string(name), Limit: used, Used: used}, *p.Quota)
		require.Equal(t, used, b.quotas(t)[string(name)].Used, "what was refused does not count")
		b.quota(t, b.tenant, name, used+1000)
		accepted := b.do(t, http.MethodPost, path, body)
		require.Less(t, accepted.status, 300, "%s: %s", name, accepted.body)
	}
}

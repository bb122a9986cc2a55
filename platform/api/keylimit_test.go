package api_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// limited creates a key with limits.
func (b *bundle) limited(t *testing.T, limits store.Limits) string {
	t.Helper()
	_, text, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "limited", Permissions: []string{"*"}, Limits: limits,
	})
	require.NoError(t, err)
	return text
}

// A request beyond the limit is refused with when to send it again, and others are served.
func TestKeyLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := b.limited(t, store.Limits{RequestsPerSecond: 1, Burst: 3})
	for i := range 3 {
		got := b.do(t, http.MethodGet, "/v1/tools", "", key)
		require.Equal(t, http.StatusOK, got.status, i)
		require.Equal(t, "3", got.header.Get("RateLimit-Limit"))
		left, err := strconv.Atoi(got.header.Get("RateLimit-Remaining"))
		require.NoError(t, err)
		require.LessOrEqual(t, left, 2-i+1)
		require.NotEmpty(t, got.header.Get("RateLimit-Reset"))
	}
	var refused answer
	for range 4 { // One may have come back meanwhile.
		if refused = b.do(t, http.MethodGet, "/v1/tools", "", key); refused.status != http.StatusOK {
			break
		}
	}
	p := refused.problem(t)
	require.Equal(t, tool.RateLimited, p.Code)
	require.Contains(t, p.Detail, "1 requests a second")
	require.True(t, p.Retryable)
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	require.Equal(t, "0", refused.header.Get("RateLimit-Remaining"))
	mcp := b.do(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, key)
	require.Equal(t, http.StatusTooManyRequests, mcp.status, "there is one limit for all that a key sends")
	free := b.do(t, http.MethodGet, "/v1/tools", "")
	require.Equal(t, http.StatusOK, free.status, "another key is not held up")
	require.Empty(t, free.header.Get("RateLimit-Limit"))
}

// A request beyond the limit asks the database nothing, and its body is not read.
func TestKeyLimitComesFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := b.limited(t, store.Limits{RequestsPerSecond: 1, Burst: 1})
	var asked atomic.Int64
	handler := b.traced(t, "UseKey", func() { asked.Add(1) })
	send := func(body io.Reader) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/runs", body)
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	require.Equal(t, http.StatusUnprocessableEntity, send(strings.NewReader(`{}`)))
	require.EqualValues(t, 1, asked.Load(), "one round trip")
	require.Equal(t, http.StatusTooManyRequests, send(failing{t}))
	before := asked.Load()
	began := time.Now()
	refused := 0
	for time.Since(began) < 50*time.Millisecond {
		require.Equal(t, http.StatusTooManyRequests, send(failing{t}))
		refused++
	}
	require.Greater(t, refused, 20)
	require.LessOrEqual(t, asked.Load()-before, int64(1))
}

// failing is a body that must not be read.
type failing struct{ t *testing.T }

func (f failing) Read([]byte) (int, error) {
	f.t.Error("the body was read")
	return 0, io.EOF
}

// Eight servers share one limit: together they serve what it allows.
func TestKeyLimitOfManyServers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const rate, burst = 100, 100
	key := b.limited(t, store.Limits{RequestsPerSecond: rate, Burst: burst})
	var served, refused atomic.Int64
	var sending sync.WaitGroup
	began := time.Now()
	for range 8 {
		handler := newHandler(t, b.Store, slog.New(slog.DiscardHandler))
		sending.Go(func() {
			for time.Since(began) < 3*time.Second {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/tenants", nil)
				r.Header.Set("Authorization", "Bearer "+key)
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				switch w.Code {
				case http.StatusOK:
					served.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
					time.Sleep(time.Millisecond)
				default:
					t.Errorf("status %d: %s", w.Code, w.Body)
					return
				}
			}
		})
	}
	sending.Wait()
	took := time.Since(began).Seconds()
	require.Positive(t, refused.Load())
	require.LessOrEqual(t, float64(served.Load()), burst+rate*took+1, "never more than the limit")
	t.Logf("served %d of %.0f in %.1f s", served.Load(), burst+rate*took, took)
}

// Bytes are those of requests and of answers, and a debt is paid before more is served.
func TestKeyLimitOfBytes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := b.limited(t, store.Limits{BytesPerMinute: 3000})
	got := b.do(t, http.MethodPost, "/v1/apply", batch(t, true, echo("sayIt"))+strings.Repeat(" ", 4000), key)
	require.Equal(t, http.StatusOK, got.status, "a request may be larger than what is left")
	require.Equal(t, "3000", got.header.Get("RateLimit-Limit"))
	next := b.do(t, http.MethodGet, "/v1/tools", "", key)
	require.Equal(t, http.StatusTooManyRequests, next.status)
	require.Contains(t, next.problem(t).Detail, "3000 bytes a minute")
	after, err := strconv.Atoi(next.header.Get("Retry-After"))
	require.NoError(t, err)
	require.Greater(t, after, 15, "a debt of more than 1000 bytes takes 20 s")
	for range 20 {
		next = b.do(t, http.MethodGet, "/v1/tools", "", key)
		require.Equal(t, http.StatusTooManyRequests, next.status)
	}
	last, err := strconv.Atoi(next.header.Get("Retry-After"))
	require.NoError(t, err)
	require.LessOrEqual(t, last, after, "refusals are no debt")
}

// A key that is bound to a toolset, used elsewhere, is refused within its limit, and does not disturb
// what it sends to its own address.
func TestKeyLimitOfAKeyThatIsElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.Store.CreateToolset(t.Context(), toolset.Toolset{Tenant: b.tenant, Slug: "desk"})
	require.NoError(t, err)
	_, key, err := b.Store.CreateKey(t.Context(), store.Key{
		Tenant: b.tenant, Name: "bound", Permissions: []string{"*"}, Toolset: "desk",
		Limits: store.Limits{RequestsPerSecond: 1, Burst: 3},
	})
	require.NoError(t, err)
	statuses := map[int]int{}
	for range 8 {
		statuses[b.do(t, http.MethodGet, "/v1/tools", "", key).status]++
	}
	require.GreaterOrEqual(t, statuses[http.StatusForbidden], 3)
	require.Positive(t, statuses[http.StatusTooManyRequests], "%v", statuses)
	require.Len(t, statuses, 2)
}

// The servers' limits are for keys without their own, and keys get no more than those.
func TestStandardKeyLimits(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.KeyLimits = store.Limits{RequestsPerSecond: 50, Burst: 20} })
	got := b.do(t, http.MethodGet, "/v1/tools", "")
	require.Equal(t, "20", got.header.Get("RateLimit-Limit"))
	wide := b.do(t, http.MethodPost, "/v1/keys", `{"name":"x","permissions":["*"],"limits":{"requests_per_second":51}}`)
	require.Equal(t, "/limits/requests_per_second", wide.problem(t).Path)
	by := b.limited(t, store.Limits{RequestsPerSecond: 1000})
	require.Equal(t, "1000", b.do(t, http.MethodGet, "/v1/tools", "", by).header.Get("RateLimit-Limit"),
		"an operator makes keys with more")
}

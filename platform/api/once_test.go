package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// keyed is the headers of a request that is named.
func keyed(key string) map[string]string { return map[string]string{api.KeyHeader: key} }

// draft is the definition of a tool that is not published.
func draft(slug string) string {
	return `{"slug":"` + slug + `","description":"Echoes.","implementation_type":"internal"}`
}

func toolsOf(t *testing.T, b *bundle, key ...string) []v1.Tool {
	t.Helper()
	var page v1.Page[v1.Tool]
	b.do(t, http.MethodGet, "/v1/tools", "", key...).into(t, &page)
	return page.Items
}

// However many send a request at once, it is served once, and all of them get
// the very same answer.
func TestDuplicatesAreServedOnce(t *testing.T) {
	t.Parallel()
	const duplicates = 10_000
	b := setup(t)
	s, err := store.Open(t.Context(), b.URL, store.Options{
		SetRole: store.AppRole, MaxConns: 4, Logger: slog.New(slog.DiscardHandler),
		Timeouts: store.Timeouts{Operation: 20 * time.Minute, Lock: 10 * time.Minute}, // All of them wait for a connection.
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	server := newHandler(t, s, slog.New(slog.DiscardHandler), func(c *api.Config) {
		c.RequestTimeout, c.MaxRequests, c.MaxTenantRequests = 10*time.Minute, duplicates, duplicates
	})
	served := make(chan struct{}) // Closed when the first answer is there: callers that have to wait retry then.
	var once sync.Once
	ask := func() *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/tools", strings.NewReader(draft("say")))
		r.Header.Set("Authorization", "Bearer "+b.key)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(api.KeyHeader, "one")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w
	}
	answers := make([]*httptest.ResponseRecorder, duplicates)
	early := make([]*httptest.ResponseRecorder, duplicates)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			answers[i] = ask()
			if answers[i].Code == http.StatusConflict {
				early[i] = answers[i]
				<-served
				answers[i] = ask()
			}
			once.Do(func() { close(served) })
		})
	}
	wg.Wait()

	firsts := 0
	for i, got := range answers {
		require.Equal(t, http.StatusCreated, got.Code, got.Body.String())
		require.Equal(t, answers[0].Body.String(), got.Body.String())
		for _, name := range []string{"Content-Type", "Location", "Etag"} {
			require.NotEmpty(t, got.Header().Get(name), name)
			require.Equal(t, answers[0].Header().Get(name), got.Header().Get(name), name)
		}
		if got.Header().Get(api.ReplayedHeader) == "" {
			firsts++
		}
		if early[i] != nil {
			wait, err := strconv.Atoi(early[i].Header().Get("Retry-After"))
			require.NoError(t, err)
			require.LessOrEqual(t, wait, 15, "a server that died leaves its key within that time")
			require.Positive(t, wait)
			require.Contains(t, early[i].Body.String(), v1.KeyInUse)
		}
	}
	require.Equal(t, 1, firsts)
	require.Len(t, toolsOf(t, b), 1)
}

// What is not the same request is refused, whatever differs; another spelling
// of the same is no difference.
func TestAKeyNamesOneRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.send(t, http.MethodPost, "/v1/tools?", draft("say"), keyed("k"))
	require.Equal(t, http.StatusCreated, first.status, string(first.body))
	require.Empty(t, first.header.Get(api.ReplayedHeader))

	again := b.send(
		t, http.MethodPost, "/v1/tools", ` { "implementation_type" : "internal", "description":"Echoes.", "slug":"say" }`,
		keyed("k"),
	)
	require.Equal(t, first.status, again.status)
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get(api.ReplayedHeader))

	for name, c := range map[string]struct{ path, body string }{
		"body":      {"/v1/tools", draft("other")},
		"endpoint":  {"/v1/agents", draft("say")},
		"parameter": {"/v1/tools/say/version?new_version=1.0.0", ""},
	} {
		got := b.send(t, http.MethodPost, c.path, c.body, keyed("k"))
		require.Equal(t, http.StatusUnprocessableEntity, got.status, name)
		require.Equal(t, v1.ProblemsPath+"/"+v1.KeyReused, got.problem(t).Type, name)
	}
	require.Len(t, toolsOf(t, b), 1)
}

// A refusal is an answer too, and answered again as it was, even when the
// request would be served by then.
func TestRefusalsAreReplayed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.send(t, http.MethodPost, "/v1/tools/say/publish", "", keyed("k"))
	require.Equal(t, http.StatusNotFound, first.status)
	b.do(t, http.MethodPost, "/v1/tools", draft("say"))
	again := b.send(t, http.MethodPost, "/v1/tools/say/publish", "", keyed("k"))
	require.Equal(t, http.StatusNotFound, again.status)
	require.Equal(t, first.body, again.body)
	require.Equal(t, http.StatusOK, b.send(t, http.MethodPost, "/v1/tools/say/publish", "", keyed("l")).status)
}

// Another's key is another key: of another tenant, and of another key of the
// same one.
func TestAnothersKeyNeverMatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"))
	require.Equal(t, http.StatusCreated, mine.status)

	stranger := b.Key(t, b.Tenant(t), "*")
	theirs := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"), stranger)
	require.Equal(t, http.StatusCreated, theirs.status)
	require.Empty(t, theirs.header.Get(api.ReplayedHeader))
	require.NotEqual(t, mine.body, theirs.body)
	require.Len(t, toolsOf(t, b, stranger), 1)

	colleague := b.Key(t, b.tenant, "*")
	require.Equal(
		t, http.StatusConflict, b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"), colleague).status,
	)
	require.Equal(
		t, http.StatusForbidden,
		b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"), b.Key(t, b.tenant, "none")).status,
	)
}

// A failure of the platform is not kept: the request is served again.
func TestFailuresAreServedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RequestTimeout = time.Second })
	b.apply(t, echo("say"), desk("desk", `["say"]`))
	for range 2 {
		got := b.send(t, http.MethodPost, "/v1/runs", `{"agent":"desk","input":"hello"}`, keyed("k"))
		require.Equal(t, http.StatusServiceUnavailable, got.status, string(got.body))
		require.Empty(t, got.header.Get(api.ReplayedHeader))
	}
	other := b.send(t, http.MethodPost, "/v1/runs", `{"agent":"desk","input":"goodbye"}`, keyed("k"))
	require.Equal(t, http.StatusUnprocessableEntity, other.status, "the key is still that request's")
}

// The request of a server that dies is served again by a retry after its lease
// has expired, and not before.
func TestAServerThatDied(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusCreated, b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k")).status)
	conn := b.Conn(t)
	die := func(lease string) {
		_, err := conn.Exec(
			t.Context(),
			"update idempotency_keys set status = null, header = null, body = null, lease_until = now() + $1::interval", lease,
		)
		require.NoError(t, err)
	}
	die("1 minute")
	early := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"))
	require.Equal(t, http.StatusConflict, early.status)
	p := early.problem(t)
	require.Equal(t, v1.ProblemsPath+"/"+v1.KeyInUse, p.Type)
	require.True(t, p.Retryable)
	require.Equal(t, "60", early.header.Get("Retry-After"), "when the lease runs out")

	die("-1 second")
	late := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"))
	require.Empty(t, late.header.Get(api.ReplayedHeader))
	require.Equal(t, http.StatusConflict, late.status, "what the dead server did, it did")
	require.Equal(t, v1.ProblemsPath+"/conflict", late.problem(t).Type)
	again := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"))
	require.Equal(t, late.body, again.body)
}

// A server that is slow renews the lease of its key, so that no other server
// takes its request over while it is served.
func TestASlowServerKeepsItsKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	conn := b.Conn(t)
	answer := b.whileServed(t, func() {
		_, err := conn.Exec(t.Context(), "update idempotency_keys set lease_until = now() - interval '1 second'")
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			var held bool
			err := conn.QueryRow(t.Context(), "select bool_and(lease_until > now()) from idempotency_keys").Scan(&held)
			return err == nil && held
		}, time.Minute, 20*time.Millisecond)
		duplicate := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"))
		require.Equal(t, v1.ProblemsPath+"/"+v1.KeyInUse, duplicate.problem(t).Type)
	})
	require.Equal(t, http.StatusCreated, answer.Code, answer.Body.String())
	again := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"))
	require.Equal(t, "true", again.header.Get(api.ReplayedHeader))
	require.Equal(t, answer.Body.Bytes(), again.body)
}

// A server that slept through its lease loses the request to the one that took
// it over: it answers nothing of its own, and keeps nothing.
func TestAServerThatWasTakenOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	conn := b.Conn(t)
	answer := b.whileServed(t, func() {
		_, err := conn.Exec(
			t.Context(), "update idempotency_keys set fence = fence + 1, lease_until = now() + interval '10 seconds'",
		)
		require.NoError(t, err)
	})
	require.Equal(t, http.StatusConflict, answer.Code, answer.Body.String())
	require.Contains(t, answer.Body.String(), v1.KeyInUse)
	require.NotEmpty(t, answer.Header().Get("Retry-After"))
	var kept bool
	require.NoError(t, conn.QueryRow(t.Context(), "select bool_or(status is not null) from idempotency_keys").Scan(&kept))
	require.False(t, kept)
}

// whileServed sends a request under the key k to a server of its own, and calls
// do while that is in the middle of it.
func (b *bundle) whileServed(t *testing.T, do func()) *httptest.ResponseRecorder {
	t.Helper()
	entered, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	server := b.traced(t, "insert into tool_registry", func() { once.Do(func() { close(entered); <-release }) })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/tools", strings.NewReader(draft("say")))
	r.Header.Set("Authorization", "Bearer "+b.key)
	r.Header.Set(api.KeyHeader, "k")
	w := httptest.NewRecorder()
	served := make(chan struct{})
	go func() { defer close(served); server.ServeHTTP(w, r) }()
	<-entered
	func() {
		defer close(release)
		do()
	}()
	<-served
	return w
}

// An answer with a secret is kept nowhere, and not given again.
func TestSecretAnswersAreWithheld(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const body = `{"name":"ci","permissions":["tools.read"]}`
	first := b.send(t, http.MethodPost, "/v1/keys", body, keyed("k"))
	require.Equal(t, http.StatusCreated, first.status)
	var made v1.CreatedKey
	first.into(t, &made)

	var problems [2][]byte
	for i := range problems {
		again := b.send(t, http.MethodPost, "/v1/keys", body, keyed("k"))
		require.Equal(t, http.StatusConflict, again.status)
		require.Equal(t, "true", again.header.Get(api.ReplayedHeader))
		var p v1.Problem
		again.into(t, &p)
		require.Equal(t, v1.ProblemsPath+"/"+v1.AnswerWithheld, p.Type)
		require.Equal(t, "/v1/keys/"+made.ID, p.Instance)
		problems[i] = again.body
	}
	require.Equal(t, problems[0], problems[1])

	var keys v1.Page[v1.Key]
	b.do(t, http.MethodGet, "/v1/keys", "").into(t, &keys)
	require.Len(t, keys.Items, 2, "that of the test, and the one that was made")
	rows, err := b.Conn(t).Query(t.Context(), "select k::text, convert_from(body, 'utf8') from idempotency_keys k")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var row, kept string
		require.NoError(t, rows.Scan(&row, &kept))
		require.NotContains(t, row+kept, made.Secret)
	}
	require.NoError(t, rows.Err())
}

// A caller that leaves does not interrupt a request that it named.
func TestWhoLeavesIsAnsweredLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	server := b.traced(t, "insert into tool_registry", leave)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/tools", strings.NewReader(draft("say")))
	r.Header.Set("Authorization", "Bearer "+b.key)
	r.Header.Set(api.KeyHeader, "k")
	server.ServeHTTP(httptest.NewRecorder(), r)
	require.Error(t, ctx.Err(), "the caller has left")

	again := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed("k"))
	require.Equal(t, http.StatusCreated, again.status)
	require.Equal(t, "true", again.header.Get(api.ReplayedHeader))
	require.Len(t, toolsOf(t, b), 1)
}

func TestMalformedKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, key := range []string{strings.Repeat("k", 256), "k\tk", "schlüssel"} {
		got := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed(key))
		require.Equal(t, http.StatusBadRequest, got.status, key)
		require.Equal(t, v1.ProblemsPath+"/"+v1.KeyMalformed, got.problem(t).Type)
	}
	require.Empty(t, toolsOf(t, b))
	longest := b.send(t, http.MethodPost, "/v1/tools", draft("say"), keyed(strings.Repeat("k", 255)))
	require.Equal(t, http.StatusCreated, longest.status)
}

// unchangingPosts change nothing that is kept.
var unchangingPosts = []string{
	"/v1/session", "/v1/markdown", "/v1/stream/{connection}/topics",
}

// takesKey reports whether POSTs to a path take a key: those do not that answer with a stream or a
// cookie, or change nothing.
func takesKey(path string) bool {
	return !strings.HasSuffix(path, "/stream") && !strings.HasPrefix(path, "/v1/codec/") &&
		!slices.Contains(unchangingPosts, path)
}

// Every POST there is takes a key, answers again what it answered, and refuses
// another request under it.
func TestEveryPostTakesAKey(t *testing.T) {
	t.Parallel()
	b := setup(t, withKeys(t)) // Credentials are kept by servers with a key only.
	tried := 0
	for _, op := range operations(t, b) {
		if op.method != http.MethodPost {
			continue
		}
		if !takesKey(op.path) {
			refused := b.send(t, op.method, fill(op.path, "absent"), "{}", keyed("stream"))
			require.Contains(t, refused.problem(t).Detail, "takes no Idempotency-Key", op.path)
			continue
		}
		key := fmt.Sprintf("post-%d", tried)
		path := fill(op.path, "absent")
		first := b.send(t, op.method, path, "{}", keyed(key))
		require.Less(t, first.status, http.StatusInternalServerError, op.path)
		again := b.send(t, op.method, path, "{}", keyed(key))
		require.Equal(t, "true", again.header.Get(api.ReplayedHeader), op.path)
		require.Equal(t, first.status, again.status, op.path)
		require.True(t, bytes.Equal(first.body, again.body), op.path)
		require.Equal(t, tool.Invalid, b.send(t, op.method, path, `{"a":1}`, keyed(key)).problem(t).Code, op.path)
		tried++
	}
	require.Greater(t, tried, 12)
}

// The description lists the header at every POST.
func TestKeysAreDescribed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string } `json:"parameters"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(b.do(t, http.MethodGet, "/openapi.json", "", "").body, &doc))
	for path, methods := range doc.Paths {
		for method, op := range methods {
			documented := false
			for _, p := range op.Parameters {
				documented = documented || p.Name == api.KeyHeader && p.In == "header"
			}
			require.Equal(t, method == "post" && takesKey(path), documented, method+" "+path)
		}
	}
}

package embed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/examples/handbook/lexical"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/embed"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-s3cr3t-embedder"

// endpoint is a server on loopback that an operator allows, with a client of it.
type endpoint struct {
	*embed.Client

	url, host string

	mu     sync.Mutex
	bodies []string
	keys   []string
}

func newEndpoint(t *testing.T, serve http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.bodies, e.keys = append(e.bodies, string(raw)), append(e.keys, r.Header.Get("Authorization"))
		e.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		serve(w, r)
	}))
	t.Cleanup(server.Close)
	e.url, e.host = server.URL, strings.TrimPrefix(server.URL, "http://")
	gate := egresstest.Gate(t, egress.Config{Policy: func(tenant tool.TenantID) egress.Policy {
		if tenant == "stranger" {
			return egress.Policy{}
		}
		return egress.Policy{AllowHosts: []string{e.host}}
	}})
	e.Client = embed.New(gate, secret.ResolverFunc(func(
		_ context.Context, tenant tool.TenantID, ref string,
	) (secret.Value, error) {
		switch {
		case tenant == "t1" && ref == "embedder":
			return secret.NewValue(key, e.host), nil
		case tenant == "t1" && ref == "elsewhere":
			return secret.NewValue(key, "models.example.com"), nil
		}
		return secret.Value{}, &tool.Error{Kind: tool.NotFound, Msg: "none"}
	}))
	return e
}

// config is a model of the endpoint's with three dimensions.
func (e *endpoint) config(edits ...func(*retrieval.EmbeddingConfig)) retrieval.EmbeddingConfig {
	c := retrieval.EmbeddingConfig{
		URL: e.url + "/v1", Model: "text-embedding-x", Dimensions: 3, CredentialsRef: "embedder",
	}
	for _, edit := range edits {
		edit(&c)
	}
	return c
}

func (e *endpoint) asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bodies
}

// exchange is a file of testdata.
type exchange struct {
	request, answer, vectors, failure string
}

func readExchange(t *testing.T, file string) exchange {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(raw), "-- request --\n")
	require.True(t, ok)
	var x exchange
	x.request, rest, ok = strings.Cut(rest, "-- answer --\n")
	require.True(t, ok)
	if x.answer, x.vectors, ok = strings.Cut(rest, "-- vectors --\n"); ok {
		return x
	}
	x.answer, x.failure, ok = strings.Cut(rest, "-- error --\n")
	require.True(t, ok, "%s says what comes of it", file)
	return x
}

// What endpoints answer, and what becomes of it: testdata holds both.
func TestExchanges(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()

			x := readExchange(t, file)
			e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" ||
					r.Header.Get("Content-Type") != "application/json" {
					w.WriteHeader(http.StatusTeapot)
					return
				}
				answer, err := http.ReadResponse(bufio.NewReader(strings.NewReader(x.answer)), r)
				if err != nil {
					w.WriteHeader(http.StatusTeapot)
					return
				}
				defer func() { _ = answer.Body.Close() }()
				maps.Copy(w.Header(), answer.Header)
				w.WriteHeader(answer.StatusCode)
				_, _ = io.Copy(w, answer.Body)
			})
			var want struct{ Input []string }
			require.NoError(t, json.Unmarshal([]byte(x.request), &want))
			got, err := e.Embed(t.Context(), "t1", e.config(), retrieval.DocumentText, want.Input)
			require.Len(t, e.asked(), 1)
			require.JSONEq(t, x.request, e.asked()[0])
			require.Equal(t, "Bearer "+key, e.keys[0])
			if x.failure == "" {
				require.NoError(t, err)
				var vectors [][]float32
				require.NoError(t, json.Unmarshal([]byte(x.vectors), &vectors))
				require.Equal(t, vectors, got)
				return
			}
			kind, text, _ := strings.Cut(strings.TrimSpace(x.failure), ": ")
			require.Equal(t, tool.Kind(kind), tool.KindOf(err), "%v", err)
			failed := tool.AsError(err)
			require.Contains(t, failed.Msg, text)
			require.NotContains(t, err.Error(), "s3c")
			require.True(t, failed.Answered)
			if strings.Contains(x.answer, "Retry-After") && failed.Kind == tool.RateLimited {
				require.Equal(t, 7*time.Second, failed.RetryAfter)
			}
		})
	}
}

// Every text has its own vector, however many requests it takes, and each
// request is within bounds.
func TestBatches(t *testing.T) {
	t.Parallel()

	server := lexical.Handler()
	e := newEndpoint(t, server.ServeHTTP)
	config := e.config(func(c *retrieval.EmbeddingConfig) {
		c.Model, c.Dimensions, c.RequestDimensions, c.BatchSize = lexical.Model, 64, true, 7
		c.QueryPrefix, c.DocumentPrefix = "query: ", "passage: "
	})
	texts := make([]string, 50)
	for i := range texts {
		texts[i] = fmt.Sprintf("text number %d", i)
	}
	got, err := e.Embed(t.Context(), "t1", config, retrieval.DocumentText, texts)
	require.NoError(t, err)
	require.Len(t, got, len(texts))
	for i, text := range texts {
		want := lexical.Vector("passage: "+text, 64)
		require.InDeltaSlice(t, want, got[i], 1e-6, text)
	}
	require.Len(t, e.asked(), 8)

	got, err = e.Embed(t.Context(), "t1", config, retrieval.QueryText, texts[:1])
	require.NoError(t, err)
	require.InDeltaSlice(t, lexical.Vector("query: "+texts[0], 64), got[0], 1e-6)

	long := strings.Repeat("kiln ", embed.MaxText/5-10)
	before := len(e.asked())
	_, err = e.Embed(t.Context(), "t1", e.config(func(c *retrieval.EmbeddingConfig) {
		c.Model, c.Dimensions, c.RequestDimensions, c.BatchSize = lexical.Model, 8, true, 512
	}), retrieval.DocumentText, slices.Repeat([]string{long}, 40))
	require.NoError(t, err)
	require.Greater(t, len(e.asked()), before+2, "by their bytes, too")
	for _, body := range e.asked() {
		require.Less(t, len(body), 1<<20+1024)
	}

	got, err = e.Embed(t.Context(), "t1", config, retrieval.QueryText, nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

// Whatever can be told before anything is sent is told then.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()

	e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for name, c := range map[string]struct {
		tenant tool.TenantID
		edit   func(*retrieval.EmbeddingConfig)
		text   string
		want   tool.Kind
	}{
		"an empty text":           {want: tool.Invalid},
		"a text that is too long": {text: strings.Repeat("x", embed.MaxText+1), want: tool.Invalid},
		"no dimensions": {
			text: "x", edit: func(c *retrieval.EmbeddingConfig) { c.Dimensions = 0 }, want: tool.Invalid,
		},
		"a URL of another scheme": {
			text: "x", edit: func(c *retrieval.EmbeddingConfig) { c.URL = "file:///etc/passwd" }, want: tool.Invalid,
		},
		"a URL with a password": {
			text: "x", edit: func(c *retrieval.EmbeddingConfig) { c.URL = "http://u:s3cr3t@" + e.host }, want: tool.Invalid,
		},
		"a credential that is not there": {
			text: "x", edit: func(c *retrieval.EmbeddingConfig) { c.CredentialsRef = "absent" }, want: tool.Denied,
		},
		"a credential for another host": {
			text: "x", edit: func(c *retrieval.EmbeddingConfig) { c.CredentialsRef = "elsewhere" }, want: tool.Denied,
		},
		"another tenant's credential": {tenant: "t2", text: "x", want: tool.Denied},
		"a tenant that may not go there": {
			tenant: "stranger", text: "x", edit: func(c *retrieval.EmbeddingConfig) { c.CredentialsRef = "" },
			want: tool.Denied,
		},
		"a credential whose name is not one": {
			text: "x", edit: func(c *retrieval.EmbeddingConfig) { c.CredentialsRef = "../x" }, want: tool.Denied,
		},
		"a base with a query that asks along": {
			text: "x", edit: func(c *retrieval.EmbeddingConfig) { c.URL += "?a=b" }, want: tool.Invalid,
		},
	} {
		config := e.config()
		if c.edit != nil {
			c.edit(&config)
		}
		tenant := c.tenant
		if tenant == "" {
			tenant = "t1"
		}
		_, err := e.Embed(t.Context(), tenant, config, retrieval.QueryText, []string{c.text})
		require.Equal(t, c.want, tool.KindOf(err), "%s: %v", name, err)
		require.NotContains(t, err.Error(), "s3cr3t", name)
	}
	require.Empty(t, e.asked())
}

func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()

	entered := make(chan struct{}, 1)
	e := newEndpoint(t, func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	_, err := e.Embed(ctx, "t1", e.config(), retrieval.QueryText, []string{"x"})
	require.Equal(t, tool.Cancelled, tool.KindOf(err), "%v", err)
}

// An answer may be as long as its vectors can be, and no longer.
func TestAnswerOfAnyLength(t *testing.T) {
	t.Parallel()

	e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 1 << 16 {
			_, _ = io.WriteString(w, `{"data": [                                    `)
		}
	})
	_, err := e.Embed(t.Context(), "t1", e.config(), retrieval.QueryText, []string{"x"})
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.ErrorContains(t, err, "longer than 1 vectors of 3 dimensions can be")
}

// Whatever an endpoint answers, vectors are of length 1, or there are none.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"index":0,"embedding":[3,4]}]}`, `{"data":[{"embedding":"AABAQAAAgEA="}]}`,
		`{"data":[{"embedding":[1e308,1e308]}]}`,
		`{"data":[{"embedding":[1e-320,0]}]}`, `{"data":[{"index":0,"embedding":[0,-0]}]}`, `{"error":"x"}`, `[]`, `null`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		got, err := e.Embed(t.Context(), "t1", e.config(func(c *retrieval.EmbeddingConfig) { c.Dimensions = 2 }),
			retrieval.QueryText, []string{"x"})
		if err != nil {
			require.Nil(t, got)
			require.NotEqual(t, tool.InternalError, tool.KindOf(err))
			return
		}
		require.Len(t, got, 1)
		require.InDelta(t, 1, math.Hypot(float64(got[0][0]), float64(got[0][1])), 1e-5)
	})
}

// Whatever URL a pipeline gives, nothing inward is reached.
func TestNothingInward(t *testing.T) {
	t.Parallel()

	egresstest.Surface(t, "embeddings", func(ctx context.Context, cfg egress.Config, url string) error {
		client := embed.New(egresstest.Gate(t, cfg), nil)
		_, err := client.Embed(ctx, "t1", retrieval.EmbeddingConfig{URL: url, Model: "m", Dimensions: 3}, retrieval.QueryText,
			[]string{"x"})
		return err
	})
}

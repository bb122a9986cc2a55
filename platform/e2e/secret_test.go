package e2e_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.temporal.io/api/temporalproto"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// secretForms returns the ways in which a secret may show.
func secretForms(s string) []string {
	quoted, _ := json.Marshal(s) // A string always encodes.
	return []string{
		s, url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)),
		strings.ToUpper(hex.EncodeToString([]byte(s))),
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(s)), "="),
		strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(s)), "="),
		strings.Trim(string(quoted), `"`), spelled("slashes", s), spelled("javascript", s), spelled("lower", s),
		spelled("entities", s),
		spelled("unicode", s), strings.Trim(spelled("nested", s), "\"\\"), spelled("mixed", s),
	}
}

// recording is a log that keeps what is written to it.
type recording struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *recording) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// both hands records to two handlers.
type both [2]slog.Handler

func (b both) Enabled(context.Context, slog.Level) bool { return true }

func (b both) Handle(ctx context.Context, r slog.Record) error {
	for _, h := range b {
		if err := h.Handle(ctx, r.Clone()); err != nil {
			return err
		}
	}
	return nil
}

func (b both) WithAttrs(attrs []slog.Attr) slog.Handler {
	return both{b[0].WithAttrs(attrs), b[1].WithAttrs(attrs)}
}

func (b both) WithGroup(name string) slog.Handler {
	return both{b[0].WithGroup(name), b[1].WithGroup(name)}
}

// The ways in which an upstream gives away what it was sent.
var echoes = []string{
	"header", "body", "base64", "hex", "escaped", "refusal", "failure", "text", "slashes", "javascript", "lower",
	"entities", "unicode", "nested", "mime", "mixed", "away",
}

// spelled returns a text as an encoder writes it that differs from those of Go.
func spelled(encoder, s string) string {
	percent := func(kept, format string) string {
		var out strings.Builder
		for _, b := range []byte(s) {
			if b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || strings.IndexByte(kept, b) >= 0 {
				out.WriteByte(b)
				continue
			}
			fmt.Fprintf(&out, format, b)
		}
		return out.String()
	}
	switch encoder {
	case "slashes":
		return percent("-._~/", "%%%02X")
	case "javascript":
		return percent("-._~!'()*", "%%%02X")
	case "lower":
		return percent("", "%%%02x")
	case "entities":
		return percent("", "&#x%x;")
	case "unicode":
		return percent("", `\u%04X`)
	case "nested":
		inner, _ := json.Marshal(s)
		outer, _ := json.Marshal(string(inner))
		return string(outer)
	case "mime":
		encoded := base64.StdEncoding.EncodeToString([]byte("user:" + s))
		return encoded[:len(encoded)/2] + "\r\n" + encoded[len(encoded)/2:]
	default:
		return base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(percent("/", "&#%d;"))))
	}
}

// leaky is an upstream that sends back whatever it was sent as a credential. It
// gives out the tokens it is asked for.
func leaky(c *canary, tokens map[string]string) {
	c.answer = func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			_ = r.ParseForm()
			id, _, _ := r.BasicAuth()
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, tokens[id])
			return
		}
		got := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, password, ok := r.BasicAuth(); ok {
			got = password
		}
		if cookie, err := r.Cookie("sid"); err == nil {
			got = cookie.Value
		}
		got = strings.Join(strings.Fields(got+" "+r.Header.Get("X-Api-Key")+" "+r.URL.Query().Get("api_key")), " ")
		w.Header().Set("Content-Type", "application/json")
		echo := strings.TrimPrefix(r.URL.Path, "/")
		switch echo {
		case "header":
			w.Header().Set("X-Echo", got)
			_, _ = io.WriteString(w, `{"ok":true}`)
		case "base64":
			_, _ = fmt.Fprintf(w, `{"ok":true,"echo":%q}`, base64.StdEncoding.EncodeToString([]byte("user:"+got)))
		case "hex":
			_, _ = fmt.Fprintf(w, `{"ok":true,"echo":%q}`, hex.EncodeToString([]byte(got)))
		case "escaped":
			_, _ = fmt.Fprintf(w, `{"ok":true,"url":%q}`, "https://x.example/?t="+url.QueryEscape(got))
		case "slashes", "javascript", "lower", "entities", "unicode", "nested", "mime", "mixed":
			_, _ = fmt.Fprintf(w, `{"ok":true,"echo":%q}`, "before "+spelled(echo, got)+" after")
		case "away": // To another origin, which no tool of the test may know of.
			w.Header().Set("Location", strings.Replace(c.URL, "127.0.0.1", "localhost", 1)+"/"+spelled("javascript", got))
			w.WriteHeader(http.StatusFound)
		case "refusal":
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = fmt.Fprintf(w, `{"error":"bad key %s"}`, got)
		case "failure":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprintf(w, `{"error":"crashed with %s"}`, got)
		case "text":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "you sent "+got)
		default:
			_, _ = fmt.Fprintf(w, `{"ok":true,"echo":{"deep":[%q]}}`, got)
		}
	}
}

// secretSite is a platform under way that keeps all that it says.
type secretSite struct {
	*site
	url, key string
	said     map[string]*recording // By surface.
}

func (s *secretSite) note(surface, text string) {
	if s.said[surface] == nil {
		s.said[surface] = &recording{}
	}
	_, _ = io.WriteString(s.said[surface], text+"\n")
}

// ask sends a request and keeps its answer as what a surface said.
func (s *secretSite) ask(surface, method, path, body string) (int, []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost {
		req.Header.Set("Idempotency-Key", newID(s.t))
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	if resp.StatusCode >= http.StatusBadRequest {
		surface = "problems"
	}
	s.note(surface, fmt.Sprint(resp.Header)+string(raw))
	return resp.StatusCode, raw
}

// stream reads what a run says until it has ended.
func (s *secretSite) stream(path string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	s.note("streams", string(raw))
}

// A credential goes to its upstream and nowhere else, whatever the upstream
// does with it: not into answers, problems, events, streams, messages, logs,
// traces, metrics, errors, histories, or any table; in no encoding.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()

	c, tokens := newCanary(t), map[string]string{}
	leaky(c, tokens)
	s := &secretSite{site: newSite(t), said: map[string]*recording{}}
	s.key = s.db.Key(t, s.principal.Tenant, "*")
	keys, err := vault.ParseKeys(vault.GenerateKey())
	require.NoError(t, err)
	logText, logJSON := &recording{}, &recording{}
	debug := &slog.HandlerOptions{Level: slog.LevelDebug}
	log := slog.New(both{slog.NewTextHandler(logText, debug), slog.NewJSONHandler(logJSON, debug)})
	spans := tracetest.NewInMemoryExporter()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))

	// A tool for each way to authenticate and each way to give away.
	auths := []string{
		`{"type":"bearer",REF}`, `{"type":"header","header":"X-Api-Key",REF}`, `{"type":"query","name":"api_key",REF}`,
		`{"type":"cookie","name":"sid",REF}`, `{"type":"basic",REF}`,
		`{"type":"oauth2_client_credentials","token_url":"` + c.URL + `/token",REF}`,
	}
	var planted, tools []string
	host, err := url.Parse(c.URL)
	require.NoError(t, err)
	handler, err := serve.Handler(t.Context(), serve.HandlerConfig{
		Store: s.Store, Temporal: s.temporal, TaskQueue: s.queue, Keys: keys, Logger: log,
	})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s.url = server.URL
	for i, auth := range auths {
		for j, echo := range echoes {
			ref := fmt.Sprintf("cred-%d-%d", i, j)
			value := fmt.Sprintf("tc/planted(%s)-%d-%d", newID(t)[24:], i, j)
			planted = append(planted, value)
			switch {
			case strings.Contains(auth, "basic"):
				value = "user:" + value
			case strings.Contains(auth, "oauth2"):
				tokens[ref] = "tc-token-" + newID(t)[24:] + ref
				planted = append(planted, tokens[ref])
				value = fmt.Sprintf(`{"client_id":%q,"client_secret":%q}`, ref, value)
			}
			body, err := json.Marshal(map[string]any{"ref": ref, "value": value, "hosts": []string{host.Host}})
			require.NoError(t, err)
			status, raw := s.ask("answers", http.MethodPost, "/v1/credentials", string(body))
			require.Equal(t, http.StatusCreated, status, string(raw))
			name := fmt.Sprintf("call%dx%d", i, j)
			d := httpTool(c.URL, tool.Execution{Pure: true, MaxAttempts: 1, TimeoutSeconds: 20})
			d.Config = json.RawMessage(`{"method":"GET","url":"` + c.URL + "/" + echo + `","auth":` +
				strings.Replace(auth, "REF", `"credentials_ref":"`+ref+`"`, 1) + `}`)
			s.publish(name, d, tool.Policy{EgressClass: tool.EgressReadOnly})
			tools = append(tools, name)
		}
	}
	require.GreaterOrEqual(t, len(planted), 40)
	var turns []agent.Call
	for i, name := range tools[:8] {
		turns = append(turns, call(fmt.Sprintf("c%d", i), name, struct{}{}))
	}
	s.start(worker.Config{
		Allow: allow(c), KeyEncryption: keys.Keys(), Logger: log, TracerProvider: tracer, MeterProvider: meter,
		Models: map[string]agent.Model{"test": play(turns)},
	})

	for _, name := range tools {
		_, raw := s.ask("calls", http.MethodPost, "/v1/tools/"+name+"/call", `{"arguments":{}}`)
		require.NotEmpty(t, raw)
	}
	requests, _ := c.count()
	require.GreaterOrEqual(t, requests, len(tools), "the credentials did go to their upstream")
	desk := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, tools[:8]...)})
	run, w := s.run(desk, "go")
	_, err = s.wait(w)
	require.NoError(t, err)

	var runs struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	_, raw := s.ask("runs", http.MethodGet, "/v1/runs?limit=200", "")
	require.NoError(t, json.Unmarshal(raw, &runs))
	require.Greater(t, len(runs.Items), len(tools))
	for _, r := range runs.Items {
		s.ask("events", http.MethodGet, "/v1/runs/"+r.ID+"/events", "")
		found, err := s.FindRun(t.Context(), s.principal.Tenant, r.ID)
		require.NoError(t, err)
		h := historyOf(t.Context(), t, s.temporal, found.WorkflowID, "")
		for _, e := range h.Events {
			decoded, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(e) // Payloads as they were encoded.
			require.NoError(t, err)
			s.note("histories", e.String()+string(decoded))
		}
		described, err := s.temporal.DescribeWorkflowExecution(t.Context(), found.WorkflowID, "")
		require.NoError(t, err)
		s.note("visibility", described.String())
		s.note("results", fmt.Sprintf("%+v", found))
	}
	s.stream("/v1/runs/" + run.ID + "/events")
	s.ask("messages", http.MethodGet, "/v1/runs/"+run.ID+"/messages", "")
	s.ask("tenant events", http.MethodGet, "/v1/events", "")
	s.ask("invocations", http.MethodGet, "/v1/invocations?limit=200", "")
	s.ask("credentials", http.MethodGet, "/v1/credentials?limit=200", "")
	s.ask("definitions", http.MethodGet, "/v1/tools?limit=200", "")
	s.ask("versions", http.MethodGet, "/v1/tools/"+tools[0]+"/versions", "")
	s.ask("explanations", http.MethodGet, "/v1/tools/"+tools[0]+"/explain", "")
	s.ask("problems", http.MethodPost, "/v1/credentials", `{"ref":"cred-0-0","value":"`+planted[0]+`","hosts":[]}`)
	s.ask("problems", http.MethodPut, "/v1/credentials/cred-0-0", `{"value":"`+planted[0]+`","hosts":["no host"]}`)
	s.ask("problems", http.MethodPost, "/v1/credentials", `{"ref":"cred-0-0","value":"`+planted[0])
	for _, span := range spans.GetSpans() {
		s.note("traces", fmt.Sprintf("%s %v %v %v", span.Name, span.Attributes, span.Events, span.Status))
	}
	var measured metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &measured))
	s.note("metrics", fmt.Sprintf("%+v", measured))
	s.said["log, as text"], s.said["log, as JSON"] = logText, logJSON
	for table, rows := range everyRow(t, s.db) {
		s.note("table "+table, rows)
	}

	require.GreaterOrEqual(t, len(s.said), 16)
	for _, surface := range []string{
		"answers", "calls", "problems", "events", "streams", "messages", "histories", "visibility", "traces", "metrics",
		"invocations", "log, as text", "log, as JSON", "table credentials", "table idempotency_keys",
	} {
		require.NotNil(t, s.said[surface], surface)
		require.NotEmpty(t, strings.TrimSpace(s.said[surface].String()), surface)
	}
	for surface, said := range s.said {
		text := said.String()
		for _, value := range planted {
			for _, form := range secretForms(value) {
				require.False(t, strings.Contains(text, form), "%s says %s: …%s…", surface, value, //nolint:testifylint // NotContains would print all of it.
					around(text, form))
			}
		}
	}
}

// around returns what stands about a text within another.
func around(text, part string) string {
	i := strings.Index(text, part)
	if i < 0 {
		return ""
	}
	return text[max(0, i-200):min(len(text), i+len(part)+100)]
}

package mcpcall_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		serveStdio()
		return
	}
	goleak.VerifyTestMain(m)
}

// TestConformance runs the suite over each of the ways to talk to a server.
func TestConformance(t *testing.T) {
	t.Parallel()

	for _, generation := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(generation, func(t *testing.T) {
			t.Parallel()

			executortest.Run(t, executortest.Harness{
				New: func(t *testing.T, b executortest.Behaviour) executortest.Subject {
					t.Helper()
					return conformingSubject(t, generation, b)
				},
				Lacks: map[executortest.Behaviour]string{executortest.Panics: "no code of others runs in its process"},
			})
		})
	}
}

func conformingSubject(t *testing.T, generation string, b executortest.Behaviour) executortest.Subject {
	t.Helper()
	upstream := executortest.NewUpstream(t, b)
	address := "http://" + upstream.Start(t, &script{
		generation: generation, call: func(w http.ResponseWriter, r *http.Request, m message) {
			if !upstream.Fault(w, r) {
				behave(w, r, m, b)
			}
		},
	})
	e := newExecutor(t, address, mcpcall.Options{Secrets: secret.Env{Lookup: func(name string) (string, bool) {
		if strings.HasSuffix(name, "_HOSTS") {
			return "127.0.0.1", true
		}
		return executortest.Secret, name == "TOOLCRIB_SECRET_KEY"
	}}})
	config := fmt.Sprintf(
		`{"server_url": %q, "tool_name": "order", "max_bytes": %d, "auth": {"type": "bearer", "credentials_ref": "key"}}`,
		address, executortest.MaxBytes,
	)
	version := &tool.Version{Slug: "order", Number: "1.0.0", Snapshot: tool.Snapshot{
		Definition: tool.Definition{Implementation: tool.MCP, Config: json.RawMessage(config)},
	}}
	return upstream.Subject(e, version, `{"id": "o1", "amount": 1.10}`)
}

func behave(w http.ResponseWriter, r *http.Request, m message, b executortest.Behaviour) {
	auth := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	quote := auth + " " + hex.EncodeToString([]byte(auth)) + " " +
		base64.StdEncoding.EncodeToString([]byte("user:"+auth))
	switch b {
	case executortest.Answers:
		m.text(w, string(m.Params))
	case executortest.SaysNo:
		m.answer(w, `{"isError": true, "content": [{"type": "text", "text": "`+executortest.Reason+`"}]}`)
	case executortest.Overflows:
		m.text(w, strings.Repeat("x", 2*executortest.MaxBytes))
	case executortest.QuotesSecret:
		m.text(w, "you sent "+quote)
	case executortest.NoSecret:
		m.fail(w, -32000, "bad key "+quote)
	case executortest.Refuses, executortest.Saturated, executortest.Fails, executortest.BreaksOff, executortest.Hangs,
		executortest.Unreachable, executortest.Panics: // Of every protocol.
	}
}

// newExecutor returns an executor whose tools may call the given servers.
func newExecutor(t *testing.T, address string, o mcpcall.Options) *mcpcall.Executor {
	t.Helper()
	e, _ := newClient(t, address, o)
	return e
}

func newClient(t *testing.T, address string, o mcpcall.Options) (*mcpcall.Executor, *mcpcall.Client) {
	t.Helper()
	gate, err := egress.New(egress.Config{Policy: func(tool.TenantID) egress.Policy {
		return egress.Policy{AllowHosts: []string{strings.TrimPrefix(address, "http://")}}
	}})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	o.Gate = gate
	c := mcpcall.NewClient(o)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return mcpcall.New(c), c
}

// message is a JSON-RPC message as a server reads it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (m message) answer(w http.ResponseWriter, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, "result": %s}`, m.ID, result)
}

func (m message) text(w http.ResponseWriter, text string) {
	raw, _ := json.Marshal(text)
	m.answer(w, `{"content": [{"type": "text", "text": `+string(raw)+`}]}`)
}

func (m message) fail(w http.ResponseWriter, code int, text string) {
	raw, _ := json.Marshal(text)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, "error": {"code": %d, "message": %s}}`, m.ID, code, raw)
}

// script is a server that is written by hand, for what no SDK would do. The
// handlers that are nil do what a good server does.
type script struct {
	generation string // A protocol version; of the last with sessions by default.
	session    string // Begun at initialize, when not empty.
	tools      string // What tools/list answers.

	initialize func(w http.ResponseWriter, r *http.Request, m message)
	list       func(w http.ResponseWriter, r *http.Request, m message)
	call       func(w http.ResponseWriter, r *http.Request, m message)
	other      func(w http.ResponseWriter, r *http.Request, m message)

	mu   sync.Mutex
	seen []string // Methods, in the order of their coming.
}

const oneTool = `{"tools": [{"name": "order", "description": "Orders.", "inputSchema": {"type": "object"}}]}`

// ServeHTTP implements [http.Handler].
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m message
	_ = json.Unmarshal(body, &m)
	if m.Method == "" {
		m.Method = r.Method
	}
	s.mu.Lock()
	s.seen = append(s.seen, m.Method)
	s.mu.Unlock()
	generation := s.generation
	if generation == "" {
		generation = "2025-11-25"
	}
	stateless := generation >= "2026-07-28"
	switch {
	case m.Method == "initialize" && s.initialize != nil:
		s.initialize(w, r, m)
	case m.Method == "initialize" && !stateless:
		if s.session != "" {
			w.Header().Set("Mcp-Session-Id", s.session)
		}
		m.answer(
			w,
			`{"protocolVersion": "`+generation+
				`", "capabilities": {"tools": {}}, "serverInfo": {"name": "script", "version": "1"}}`,
		)
	case m.Method == "server/discover" && stateless:
		m.answer(w, `{"resultType": "complete", "supportedVersions": ["`+generation+`"], "capabilities": {"tools": {}}}`)
	case m.Method == "notifications/initialized", m.Method == "notifications/cancelled":
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/list" && s.list != nil:
		s.list(w, r, m)
	case m.Method == "tools/list":
		tools := s.tools
		if tools == "" {
			tools = oneTool
		}
		m.answer(w, tools)
	case m.Method == "tools/call" && s.call != nil:
		s.call(w, r, m)
	case m.Method == "tools/call":
		m.text(w, "done")
	case s.other != nil:
		s.other(w, r, m)
	case len(m.ID) > 0:
		m.fail(w, -32601, "method not found")
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// methods returns what the server was asked, in order.
func (s *script) methods() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

// callOf returns a call of the tool "order" at a server.
func callOf(config, run string) *tool.Call {
	return &tool.Call{
		CallIdentity: tool.CallIdentity{
			CallID:    "call_1",
			EffectID:  "effect-1",
			Principal: tool.Principal{Tenant: "t1"},
			RunID:     run,
		}, Attempt: 1,
		Egress: tool.EgressWrite,
		Version: &tool.Version{Slug: "order", Number: "1.0.0", Snapshot: tool.Snapshot{
			Definition: tool.Definition{Implementation: tool.MCP, Config: json.RawMessage(config)},
		}},
		Arguments: json.RawMessage(`{"id": "o1"}`),
	}
}

func configOf(address string) string {
	return fmt.Sprintf(`{"server_url": %q, "tool_name": "order"}`, address)
}

func textOf(res *tool.Result) string {
	var b strings.Builder
	for _, c := range res.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

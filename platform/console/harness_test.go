package console_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/nested"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/console"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook/deliver"
)

var (
	stay  = flag.String("stay", "", "serve the pages of the tests at this address until interrupted")
	under = flag.String("prefix", "", "run all tests in a browser under this path, behind a proxy, such as /a/b")
)

// code signs a browser in.
const code = "a-code"

// site is the console and the API, under a prefix behind a proxy or without, on a database with a tenant that has some
// of everything.
type site struct {
	*storetest.Fixture
	url, slug, key string
	prefix         string
	content        string                       // The host of the content origin; empty for none.
	streams        atomic.Int64                 // That are open.
	delay          atomic.Int64                 // Of what begins a stream.
	cut            func()                       // Breaks all connections.
	restart        func()                       // Ends the server, and begins another one at its address.
	another        atomic.Pointer[http.Handler] // Another build of the pages, once it is served instead.
	vault          *vault.Vault
	gate           *egress.Gate           // Of webhooks.
	receiver       atomic.Pointer[string] // The host and port of this machine that it lets them reach.
	waits          waiting
	session        v1.ToolSession   // That was submitted to.
	view           v1.PublishedView // That is live.
}

// newSite makes a site under a prefix; empty for that of the flag.
func newSite(t *testing.T, prefix string) *site {
	t.Helper()
	prefix = cmp.Or(prefix, *under)
	d := storetest.NewDatabase(t)
	s := &site{Fixture: storetest.NewFixture(t, d), prefix: prefix}
	s.key = d.Key(t, s.Tenant, "*")
	found, err := d.Store.FindTenant(t.Context(), s.Tenant)
	require.NoError(t, err)
	s.slug = found.Slug
	temporal, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: quiet{}})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	s.gate, err = egress.New(egress.Config{Policy: func(tool.TenantID) egress.Policy {
		if host := s.receiver.Load(); host != nil {
			return egress.Policy{AllowHosts: []string{*host}}
		}
		return egress.Policy{}
	}})
	require.NoError(t, err)
	t.Cleanup(s.gate.Close)
	keys, err := vault.ParseKeys(vault.GenerateKey())
	require.NoError(t, err)
	s.vault = vault.New(d.Store, vault.Options{Keys: keys})
	resolve := resolver.New(d.Store, resolver.Options{})
	pages, err := console.Handler(console.Options{Prefix: prefix, Development: true})
	require.NoError(t, err)
	types := registrytest.Types(nested.AgentCall(), nested.Task(), nested.Composition(), executors.Type{
		Traits: tool.Traits{Implementation: tool.HTTP, Quick: true, Guarded: true}, DeclaresReads: httpcall.DeclaresReads,
	})
	serve := func(at string) *httptest.Server {
		answers, err := api.New(api.Config{
			Store: d.Store, Resolver: resolve, Temporal: temporal, TaskQueue: "test",
			Vault: s.vault, CheckWebhook: deliver.Checker(s.gate),
			Registry: registry.New(d.Store, registry.Options{
				Resolver: resolve, Types: types,
			}),
			Browsers: api.BrowserConfig{PlainHTTP: true, Redeem: func(c string) (string, bool) { return s.key, c == code }},
			Logger:   slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		server := httptest.NewUnstartedServer(s.handler(pages, answers))
		if at != "" {
			_ = server.Listener.Close()
			server.Listener, err = net.Listen("tcp", at)
			require.NoError(t, err)
		}
		server.Start()
		return server
	}
	server := serve(*stay)
	t.Cleanup(func() { server.Close() })
	s.url, s.cut = server.URL, func() { server.CloseClientConnections() }
	s.restart = func() {
		server.CloseClientConnections()
		server.Close()
		server = serve(server.Listener.Addr().String())
	}
	if prefix != "" {
		s.url, s.cut = mounted(t, server.URL, prefix)
	}
	s.fill(t)
	return s
}

// handler serves the console and the API under the prefix.
func (s *site) handler(pages, answers http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages := pages
		if *stay != "" { // What was built meanwhile.
			built, err := console.NewHandler(console.Options{Prefix: s.prefix, Development: true}, os.DirFS("dist"))
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			pages = built
		}
		if another := s.another.Load(); another != nil {
			pages = *another
		}
		if at, ok := strings.CutPrefix(r.URL.Path, s.prefix); !ok || console.Serves(at) {
			pages.ServeHTTP(w, r)
			return
		}
		if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			s.streams.Add(1)
			defer s.streams.Add(-1)
			time.Sleep(time.Duration(s.delay.Load()))
		}
		http.StripPrefix(s.prefix, answers).ServeHTTP(w, r)
	})
}

// mounted puts a server behind a proxy that has it under a path, and something else at its root. It returns the address
// there, and what breaks all connections to the proxy.
func mounted(t *testing.T, server, prefix string) (address string, cut func()) {
	t.Helper()
	to, err := url.Parse(server)
	require.NoError(t, err)
	passes := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != prefix && !strings.HasPrefix(r.URL.Path, prefix+"/") {
			http.Error(w, "another site", http.StatusTeapot)
			return
		}
		passes.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL + prefix, proxy.CloseClientConnections
}

// quiet drops what a Temporal client says.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// area is a part of the console: what its pages show, and the addresses under a tenant at which every state
// of them is seen, which must be accessible.
type area struct {
	name  string
	fill  func(s *site, t *testing.T)
	pages func(s *site) []string
}

// areas are those of the site. Each has a file of tests.
func areas() []area {
	return []area{
		{"registry", (*site).fillRegistry, (*site).registryPages},
		{"account", (*site).fillAccount, (*site).accountPages},
		{"stream", (*site).fillStream, (*site).streamPages},
		{"tools", (*site).fillTools, (*site).toolsPages},
		{"graphs", (*site).fillGraphs, (*site).graphPages},
		{"connect", (*site).fillConnect, (*site).connectPages},
		{"inbox", (*site).fillInbox, (*site).inboxPages},
		{"forms", (*site).fillForms, (*site).formPages},
		{"runs", (*site).fillRuns, (*site).runsPages},
		{"share", (*site).fillShare, (*site).sharePages},
		// Last: it makes budgets that admit no more calls.
		{"govern", (*site).fillGovern, (*site).governPages},
	}
}

// fill makes what the pages show.
func (s *site) fill(t *testing.T) {
	t.Helper()
	for _, a := range areas() {
		a.fill(s, t)
	}
}

func (s *site) registryPages() []string {
	return []string{
		"/tools", "/tools?open=refundOrder", "/tools?search=nothing-is-called-so", "/tools/refundOrder",
		"/tools/refundOrder?tab=input", "/tools/refundOrder?tab=versions", "/tools/refundOrder?tab=explain", "/tools/missing",
		"/runs", "/runs/" + s.Run.ID, "/runs/" + s.Run.ID + "?tab=calls", "/runs/" + s.Run.ID + "?tab=events",
		"/runs/" + s.Run.ID + "?tab=plan", "/agents", "/agents?open=supportDesk", "/other",
	}
}

func (s *site) fillRegistry(t *testing.T) {
	t.Helper()
	var all []json.RawMessage
	for _, d := range []string{
		`"slug":"refundOrder","name":"Refund an order","category":"orders","egress_class":"write","version":"2.1.0",
		"publish":true,		"description":"Pays an order back. Ask the customer first.","implementation_type":"http",
		"implementation_config":{"method":"POST","url":"https://shop.example.com/refunds"},
		"input_schema":{"type":"object","required":["order","amount"],"properties":{
		"order":{"type":"integer","title":"Order","description":"Number of the order","minimum":1},
		"amount":{"type":"number","title":"Amount","description":"In euro"},
		"reason":{"type":"string","title":"Reason","enum":["damaged","late","other"]},
		"items":{"type":"array","items":{"type":"string"}},"notify":{"type":"boolean","title":"Tell the customer"}}}`,
		`"slug":"summarizeTicket","name":"Summarize a ticket","category":"support","version":"1.0.0","publish":true,
		"description":"Writes three sentences about a ticket.","implementation_type":"internal",
		"input_schema":{"type":"object","properties":{"ticket":{"type":"string"}}}`,
		`"slug":"countStock","name":"Count the stock","category":"warehouse","version":"0.3.0",
		"description":"How many of an article are there.","implementation_type":"internal"`,
		`"slug":"trackParcel","name":"Track a parcel","category":"orders","egress_class":"read_only","version":"1.4.2",
		"publish":true,		"description":"Where a parcel is, and when it will arrive.","implementation_type":"http",
		"implementation_config":{"method":"GET","url":"https://parcels.example.com/track"}`,
	} {
		all = append(all, json.RawMessage(`{"kind":"tool",`+d+`}`))
	}
	for i := range 60 {
		all = append(all, json.RawMessage(fmt.Sprintf(`{"kind":"tool","slug":"lookUp%02d","name":"Look up %02d",
			"description":"Looks something up.","implementation_type":"internal","version":"1.0.0","publish":true}`, i, i)))
	}
	all = append(all, json.RawMessage(`{"kind":"agent","slug":"supportDesk","name":"Support desk","model":"scripted/desk",
		"description":"Answers questions about orders.","instructions":"Look before you answer.",
		"version":"1.2.0","publish":true,		"tools":["searchOrders","refundOrder"]}`))
	s.post(t, "/v1/apply", v1.Apply{Definitions: all})

	s.Answer(t, s.Turn)
	waits := s.NewTurn(t, s.Run, 2)
	e := s.EntryOf(s.Run, waits, "effect-"+uuid.NewString())
	s.Fixture.Turn = waits
	s.Ask(t, s.Request(t, e))
	_, err := s.Store.CreateRun(t.Context(), agent.Run{
		Tenant: s.Tenant, Kind: agent.RunKindAgent, AgentID: s.Agent.ID, Agent: s.Agent.Slug, Mode: tool.Production,
		Principal: s.Principal, WorkflowID: "t/" + uuid.NewString(),
		Input: json.RawMessage(`"Where is parcel 9223372036854775807?"`),
	}, agent.Message{Role: agent.RoleUser, Content: []tool.Content{tool.Text("Where is parcel 9223372036854775807?")}})
	require.NoError(t, err)
}

// post sends a request with the key of the site.
func (s *site) post(t *testing.T, path string, body any) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, bytes.NewReader(raw))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	var out v1.Applied
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&out))
	require.Zero(t, out.Failed, "%+v", out)
}

// With -stay, the pages are served for those who work on them.
func TestStay(t *testing.T) { //nolint:paralleltest // It is alone.
	if *stay == "" {
		t.Skip("only with -stay")
	}
	s := newSite(t, "")
	t.Logf("the console is at %s/login#k=%s", s.url, code)
	select {
	case <-t.Context().Done():
	case <-time.After(3 * time.Hour):
	}
}

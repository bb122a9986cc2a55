package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	platformclient "github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/devstack"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// plant is the platform as processes of the command: one server and two
// workers, in front of an upstream that counts.
type plant struct {
	t        *testing.T
	db       *storetest.Database
	conn     *pgx.Conn // As superuser, for the look at the records.
	temporal client.Client
	tenant   tool.TenantID
	key      string
	environ  []string
	upstream *register
	scripts  string // Folder of transcripts.

	mu           sync.Mutex
	server       *process
	api          *platformclient.Client
	workers      [2]*process
	acknowledged []string // Ids of runs that were promised.
	version      int      // Of what was applied last.
}

// Patterns by which a process says that it is ready.
var (
	servingPattern = regexp.MustCompile(`msg=serving url=(\S+)`)
	workingPattern = regexp.MustCompile(`msg=working task_queue=(\S+)`)
)

func newPlant(t *testing.T) *plant {
	t.Helper()
	p := &plant{t: t, db: storetest.NewDatabase(t, store.Options{MaxConns: 8}), upstream: newRegister(t), scripts: t.TempDir()}
	p.conn, p.tenant = p.db.Conn(t), p.db.Tenant(t)
	p.key = p.db.Key(t, p.tenant, "*")
	var err error
	p.temporal, err = dial(server.Address())
	require.NoError(t, err)
	t.Cleanup(p.temporal.Close)
	p.environ = []string{
		cli.DatabaseVariable + "=" + p.login(), cli.QueueVariable + "=q-" + uuid.NewString(), cli.ListenVariable + "=127.0.0.1:0",
		"TEMPORAL_ADDRESS=" + server.Address(), "TEMPORAL_NAMESPACE=" + devstack.DefaultNamespace,
	}
	for name, text := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(p.scripts, name+".yaml"), []byte(text), 0o600))
	}
	p.startServer()
	for i := range p.workers {
		p.startWorker(i)
	}
	require.NoError(t, p.apply(t.Context()))
	return p
}

// login makes a login that is granted the app role and nothing more.
func (p *plant) login() (address string) {
	p.t.Helper()
	name := "login_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	_, err := p.conn.Exec(p.t.Context(), fmt.Sprintf("create role %s login password 'only-here' in role %s", name, store.AppRole))
	require.NoError(p.t, err)
	p.t.Cleanup(func() { _, _ = p.conn.Exec(context.WithoutCancel(p.t.Context()), "drop role "+name) })
	u, err := url.Parse(p.db.URL)
	require.NoError(p.t, err)
	u.User = url.UserPassword(name, "only-here")
	return u.String()
}

func (p *plant) startServer() {
	p.t.Helper()
	started, address := startCommand(p.t, p.environ, servingPattern, "serve")
	api, err := platformclient.New(platformclient.Config{Server: address, Key: p.key})
	require.NoError(p.t, err)
	p.t.Cleanup(api.Close)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server, p.api = started, api
}

func (p *plant) startWorker(i int) {
	p.t.Helper()
	host := strings.TrimPrefix(p.upstream.URL, "http://")
	p.workers[i], _ = startCommand(p.t, p.environ, workingPattern, "worker", "--transcripts", p.scripts, "--allow-host", host)
}

// client returns a client of the server that runs now.
func (p *plant) client() *platformclient.Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.api
}

// acknowledge keeps that a run was promised.
func (p *plant) acknowledge(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acknowledged = append(p.acknowledged, id)
}

// promised returns the ids of the runs that were promised.
func (p *plant) promised() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.acknowledged...)
}

// scripts are what the models say. They go on, whatever the tools answer.
var scripts = map[string]string{
	"brief": `turns:
  - call:
      - {id: a, tool: readIt, args: {q: a}}
      - {id: b, tool: readIt, args: {q: b}}
  - say: done
`,
	"long": `turns:
  - call:
      - {id: a, tool: readIt, args: {q: a}}
      - {id: b, tool: sendIt, args: {q: b}}
      - {id: c, tool: putIt, args: {q: c}}
  - call:
      - {id: d, tool: putIt, args: {q: d}}
      - {id: e, tool: readIt, args: {q: e}}
      - {id: f, tool: sendIt, args: {q: f}}
  - call:
      - {id: g, tool: sendIt, args: {q: g}}
  - say: done
`,
}

// kinds are the tools, by how they may be repeated.
var kinds = map[string]string{
	"readIt": `{"is_pure":true,"timeout_s":2,"max_attempts":6}`,
	"putIt":  `{"idempotent":true,"timeout_s":2,"max_attempts":6}`,
	"sendIt": `{"timeout_s":2,"max_attempts":6}`,
}

// apply publishes the next version of all tools and agents. The version stands
// in the URL, so that the upstream sees which one called.
func (p *plant) apply(ctx context.Context) error {
	p.mu.Lock()
	p.version++
	version := p.version
	p.mu.Unlock()
	var in v1.Apply
	for slug, execution := range kinds {
		in.Definitions = append(in.Definitions, json.RawMessage(fmt.Sprintf(`{"kind":"tool","slug":%q,"description":"Version %d.",
			"implementation_type":"http","egress_class":"read_only","implementation_config":{"url":"%s/%s?v=%d"},"publish":true,
			"input_schema":{"type":"object","properties":{"q":{"type":"string"}}},"execution":%s}`,
			slug, version, p.upstream.URL, slug, version, execution)))
	}
	for name := range scripts {
		in.Definitions = append(in.Definitions, json.RawMessage(fmt.Sprintf(
			`{"kind":"agent","slug":%q,"instructions":"Version %d.","model":"scripted/%s","tools":["readIt","putIt","sendIt"],"publish":true}`,
			name, version, name)))
	}
	applied, err := p.client().Apply(ctx, in)
	for _, item := range applied.Items {
		if item.Error != nil { // Others change the same; one that is disabled isn't published.
			return item.Error.ToolError()
		}
	}
	return err
}

// register is an upstream that keeps a record of every request.
type register struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string][]received // By idempotency key.
	total    int
}

// received is a request as the upstream saw it.
type received struct{ slug, version string }

func newRegister(t *testing.T) *register {
	t.Helper()
	r := &register{requests: make(map[string][]received)}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

// serve answers after a moment, and at times with a failure that passes: but
// never to the tool that must not be repeated, whose calls would end there.
func (r *register) serve(w http.ResponseWriter, req *http.Request) {
	key, slug := req.Header.Get("Idempotency-Key"), strings.TrimPrefix(req.URL.Path, "/")
	r.mu.Lock()
	r.total++
	n := r.total
	r.requests[key] = append(r.requests[key], received{slug, req.URL.Query().Get("v")})
	r.mu.Unlock()
	select {
	case <-time.After(time.Duration(n%7) * 15 * time.Millisecond):
	case <-req.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if slug != "sendIt" && n%11 == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = fmt.Fprintf(w, `{"n":%d}`, n)
}

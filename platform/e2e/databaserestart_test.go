package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// ownDatabase is a PostgreSQL of the test's own, which can be restarted at its port.
type ownDatabase struct {
	t   *testing.T
	cfg embedded.PostgresConfig

	mu     sync.Mutex
	server *embedded.Postgres
}

func newOwnDatabase(t *testing.T) (*ownDatabase, *storetest.Database) {
	t.Helper()
	dir, err := os.MkdirTemp( //nolint:usetesting // t.TempDir is closed to the account that runs PostgreSQL.
		"", "toolcrib-restart-",
	)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711)) // The account that runs PostgreSQL passes through.
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	o := &ownDatabase{
		t:   t,
		cfg: embedded.PostgresConfig{Dir: filepath.Join(dir, "postgres"), Port: embedded.AnyPort, Logger: quiet()},
	}
	o.server, err = embedded.StartPostgres(t.Context(), o.cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		_ = o.server.Stop(context.Background())
	})
	o.cfg.Port, o.cfg.PortFixed = o.server.Port(), true
	_, err = serve.Migrate(t.Context(), o.server.URL(), quiet())
	require.NoError(t, err)
	db := &storetest.Database{URL: o.server.URL()}
	db.Store, err = store.Open(t.Context(), db.URL, store.Options{SetRole: store.AppRole, Logger: quiet(), MaxConns: 8})
	require.NoError(t, err)
	t.Cleanup(db.Store.Close)
	db.Platform, err = store.OpenPlatform(t.Context(), db.URL, store.Options{Logger: quiet(), MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(db.Platform.Close)
	return o, db
}

// restart stops the server at once, without a checkpoint, and starts it again.
func (o *ownDatabase) restart() {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	now, cancel := context.WithCancel(o.t.Context())
	cancel()
	_ = o.server.Stop(now) // It reports that it had no time to stop in order.
	server, err := embedded.StartPostgres(o.t.Context(), o.cfg)
	require.NoError(o.t, err)
	o.server = server
}

// newDeskOn is [newMCPDesk] on a database.
func newDeskOn(t *testing.T, db *storetest.Database, g *gate) *mcpDesk {
	t.Helper()
	keys, err := payload.FromEnvironment(os.Getenv)
	require.NoError(t, err)
	temporal, err := dialWith(server.Address(), keys)
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	c := &mcpDesk{site: &site{
		payloads: keys, Store: db.Store, t: t, db: db, temporal: temporal, queue: "q-" + newID(t),
		principal: tool.Principal{Tenant: db.Tenant(t), Subject: "test"},
	}}
	c.key = c.db.Key(t, c.principal.Tenant, "*")
	c.start(worker.Config{Functions: g.functions(t)})
	c.serve()
	return c
}

// Streams go through a restart of PostgreSQL in the middle of a call: that of the run's events, read by a client that
// resumes and by one that keeps its connection, lose and repeat nothing; the call of an MCP client has its one result;
// and a client that follows its session hears of changes.
func TestStreamsOutliveARestartOfPostgreSQL(t *testing.T) {
	t.Parallel()

	own, db := newOwnDatabase(t)
	g := newGate()
	c := newDeskOn(t, db, g)
	c.publish("look", lookTool(), tool.Policy{})
	reported, changed := make(chan string, 100), make(chan struct{}, 100)
	session := c.connect(withSessions, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
			reported <- n.Params.Message
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	params := &mcp.CallToolParams{
		Name: "look", Arguments: map[string]any{"name": "keys"}, Meta: mcp.Meta{"toolcrib/call-id": "order-1"},
	}
	params.SetProgressToken("p1")
	type end struct {
		result *mcp.CallToolResult
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		result, err := session.CallTool(t.Context(), params)
		ended <- end{result, err}
	}()
	<-g.begun
	require.Equal(t, "looking for keys", <-reported)
	runs, err := c.ListRuns(t.Context(), c.principal.Tenant, store.RunQuery{})
	require.NoError(t, err)
	require.Len(t, runs, 1)
	api, err := client.New(client.Config{Server: c.served.URL, Key: c.key})
	require.NoError(t, err)
	t.Cleanup(api.Close)
	resumed, kept := make(chan []tool.Event, 1), make(chan []int64, 1)
	seen := make(chan struct{}, 100)
	go func() {
		var all []tool.Event
		for e, err := range api.FollowRun(t.Context(), runs[0].ID, 0) {
			if err != nil {
				t.Errorf("following a run: %v", err)
				break
			}
			all = append(all, e)
			seen <- struct{}{}
		}
		resumed <- all
	}()
	reading := make(chan struct{}, 100)
	go func() { kept <- c.readEvents(runs[0].ID, reading) }()
	<-seen // Both have begun.
	<-reading

	own.restart()
	close(g.goOn)

	all, numbers := <-resumed, <-kept
	require.NotEmpty(t, all)
	require.Len(t, numbers, len(all))
	for i, e := range all {
		require.EqualValues(t, i+1, e.Seq, "each once, and in order")
		require.EqualValues(t, i+1, numbers[i])
	}
	require.Equal(t, agent.EventRunCompleted, all[len(all)-1].Type)
	over := <-ended
	require.NoError(t, over.err)
	require.False(t, over.result.IsError, shownText(t, over.result))
	require.Equal(t, map[string]any{"name": "found keys"}, over.result.StructuredContent)
	require.Equal(t, 1, g.times())
	require.Eventually(t, func() bool {
		slug := "extra" + strings.ReplaceAll(newID(t), "-", "")[16:]
		c.publish(slug, lookTool(), tool.Policy{})
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}, time.Minute, time.Second)
	_, err = session.ListTools(t.Context(), nil)
	require.NoError(t, err, "the session is the one that it was")
}

// readEvents reads the stream of a run to its end over one connection, and over more where the server ends one, by the
// number of the last event, as browsers do. It returns the numbers, and reports each.
func (c *mcpDesk) readEvents(runID string, reading chan<- struct{}) (numbers []int64) {
	last, over := "", false
	for until := time.Now().Add(2 * time.Minute); !over && time.Now().Before(until); {
		req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.served.URL+"/v1/runs/"+runID+"/events", nil)
		if err != nil {
			return numbers
		}
		req.Header.Set("Authorization", "Bearer "+c.key)
		req.Header.Set("Accept", "text/event-stream")
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for !over && lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				last = id
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var e tool.Event
				if json.Unmarshal([]byte(data), &e) == nil && e.Seq > 0 {
					numbers = append(numbers, e.Seq)
					reading <- struct{}{}
				}
			}
			over = lines.Text() == "event: end"
		}
		_ = resp.Body.Close()
		time.Sleep(100 * time.Millisecond)
	}
	return numbers
}

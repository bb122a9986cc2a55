package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/activities"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows"
	"github.com/toolcrib/toolcrib/workflows/workflowstest"
)

// childVariable holds, in the environment of a worker process of these tests,
// its [childConfig].
const childVariable = "TOOLCRIB_E2E_CHILD"

// childConfig says what a worker process does, and where it dies.
type childConfig struct {
	Address  string         `json:"address"`
	Database string         `json:"database"`
	Queue    string         `json:"queue"`
	Upstream string         `json:"upstream"` // Host and port it may reach.
	Tool     string         `json:"tool"`     // What its model calls, in its first turn.
	Calls    int            `json:"calls"`    // How often; once for zero.
	Point    point          `json:"point"`    // Where it is hit; empty for nowhere.
	Only     string         `json:"only"`     // The tool whose call it is hit in; empty for any.
	Marker   string         `json:"marker"`   // Made when it is hit, so that it is hit once.
	Signal   syscall.Signal `json:"signal"`
	Busy     bool           `json:"busy"` // Its first admission fails, in a way that passes.
	// Delegates is whether its models call whatever tool they have.
	Delegates bool `json:"delegates"`
	// AtOnce is whether it records several steps of a run at once.
	AtOnce bool `json:"at_once"`
	// Upload is the tenant of a file that it stores, in place of any work.
	Upload tool.TenantID `json:"upload"`
	// LeaseS is for how long it leases slots, in seconds; zero for the time of the product.
	LeaseS int `json:"lease_s"`
}

// point is a place between the phases of the ledger.
type point string

const (
	beforeAdmit point = "before admit"
	afterAdmit  point = "after admit"
	beforeSent  point = "before sent"
	afterSent   point = "after sent"
	afterAnswer point = "after answer" // The tool answered; nothing is settled.
	afterSettle point = "after settle"

	beforeTurn point = "before turn" // Nothing of a turn is known.
	afterTurn  point = "after turn"  // The model answered, and the answer is stored.
	beforeEnd  point = "before end"  // The run is over, and not recorded so.
	afterEnd   point = "after end"

	afterFile    point = "after file"    // A file is recorded, and has no content.
	inContent    point = "in content"    // Half of the content is stored.
	afterContent point = "after content" // All of it is; the file is not known to be complete.
	afterUpload  point = "after upload"

	beforeNode point = "before node" // A node of a graph has ended, and is not recorded so.
	afterNode  point = "after node"
)

// hit sends this process its signal when it is at its point for the first time.
func (c childConfig) hit(at point) {
	if c.Point != at || os.Mkdir(c.Marker, 0o700) != nil {
		return
	}
	_ = syscall.Kill(os.Getpid(), c.Signal)
	if c.Signal == syscall.SIGKILL {
		select {} // It does not come back from this.
	}
	// A stop reaches the other threads first: this one must not get past the
	// point before it sleeps too.
	time.Sleep(100 * time.Millisecond)
}

// hitIn is hit for a call of a tool.
func (c childConfig) hitIn(slug string, at point) {
	if c.Only == "" || c.Only == slug {
		c.hit(at)
	}
}

// mortal is the ledger of a worker that is hit between its phases.
type mortal struct {
	ledger.Ledger
	cfg childConfig
}

func (m mortal) Admit(ctx context.Context, req ledger.AdmitRequest) (ledger.Ticket, error) {
	m.cfg.hitIn(req.Slug, beforeAdmit)
	if m.cfg.Busy && os.Mkdir(m.cfg.Marker, 0o700) == nil {
		return ledger.Ticket{}, &tool.Error{Kind: tool.RateLimited, Op: "e2e", Msg: "busy"}
	}
	ticket, err := m.Ledger.Admit(ctx, req)
	m.cfg.hitIn(req.Slug, afterAdmit)
	return ticket, err
}

func (m mortal) MarkSent(ctx context.Context, tenant tool.TenantID, effectID string, fence int64) error {
	m.cfg.hit(beforeSent)
	err := m.Ledger.MarkSent(ctx, tenant, effectID, fence)
	m.cfg.hit(afterSent)
	return err
}

func (m mortal) Settle(ctx context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	m.cfg.hitIn(s.Slug, afterAnswer)
	outcome, err := m.Ledger.Settle(ctx, s)
	m.cfg.hitIn(s.Slug, afterSettle)
	return outcome, err
}

// mortalRuns are the runs of a worker that is hit between its steps.
type mortalRuns struct {
	agent.Runs
	cfg childConfig
}

func (m mortalRuns) OpenTurn(
	ctx context.Context, tenant tool.TenantID, runID, head, key string,
) (agent.OpenTurn, error) {
	m.cfg.hit(beforeTurn)
	return m.Runs.OpenTurn(ctx, tenant, runID, head, key)
}

func (m mortalRuns) SaveTurn(ctx context.Context, turn agent.Turn) (agent.Turn, error) {
	stored, err := m.Runs.SaveTurn(ctx, turn)
	m.cfg.hit(afterTurn)
	return stored, err
}

func (m mortalRuns) FinishRun(ctx context.Context, end agent.RunEnd) error {
	m.cfg.hit(beforeEnd)
	err := m.Runs.FinishRun(ctx, end)
	m.cfg.hit(afterEnd)
	return err
}

// mortalNodes are the records of graphs of a worker that is hit around them.
type mortalNodes struct {
	*store.Store
	cfg childConfig
}

func (m mortalNodes) WriteNodes(ctx context.Context, of graph.Run, records []graph.Record) error {
	for i := range records {
		m.cfg.hitIn(records[i].Node, beforeNode)
	}
	err := m.Store.WriteNodes(ctx, of, records)
	for i := range records {
		m.cfg.hitIn(records[i].Node, afterNode)
	}
	return err
}

// mortalJournal is the journal of a worker that is hit between its records.
type mortalJournal struct {
	*store.Store
	cfg childConfig
}

func (m mortalJournal) Begin(
	ctx context.Context, run agent.Run, key string,
) (agent.Run, *agent.OpenTurn, error) {
	m.cfg.hit(beforeTurn)
	return m.Store.Begin(ctx, run, key)
}

func (m mortalJournal) Record(ctx context.Context, r loop.Record) (loop.Recorded, error) {
	hit := func(end bool, turn, ended, begun point) {
		if r.Turn != nil && turn != "" {
			m.cfg.hit(turn)
		}
		for _, s := range r.Ended {
			m.cfg.hitIn(s.Slug, ended)
		}
		for _, req := range r.Begin {
			m.cfg.hitIn(req.Slug, begun)
		}
		if r.End != nil && end {
			m.cfg.hit(afterEnd)
		} else if r.End != nil {
			m.cfg.hit(beforeEnd)
		}
	}
	hit(false, "", afterAnswer, beforeAdmit)
	done, err := m.Store.Record(ctx, r)
	hit(true, afterTurn, afterSettle, afterAdmit)
	return done, err
}

// childMain is the main function of a worker process.
func childMain() int {
	var cfg childConfig
	if err := json.Unmarshal([]byte(os.Getenv(childVariable)), &cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := cfg.work(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (c childConfig) work(ctx context.Context) error {
	db, err := store.Open(ctx, c.Database, store.Options{SetRole: store.AppRole, Logger: quiet()})
	if err != nil {
		return err
	}
	defer db.Close()
	if c.Upload != "" {
		return c.upload(ctx, db)
	}
	gate, err := egress.New(egress.Config{Policy: func(tool.TenantID) egress.Policy {
		return egress.Policy{AllowHosts: []string{c.Upstream}}
	}})
	if err != nil {
		return err
	}
	mux := executors.NewMux()
	mux.Use(middleware.Standard(middleware.Options{Logger: quiet()})...)
	mux.Handle(tool.HTTP, httpcall.New(gate, secret.Env{}))
	servers := mcpcall.NewClient(mcpcall.Options{Gate: gate, Sessions: db})
	defer func() { _ = servers.Close() }()
	mux.Handle(tool.MCP, mcpcall.New(servers))
	model := callTimes(c.Tool, max(1, c.Calls))
	if c.Delegates {
		model = delegate()
	}
	ingester, err := c.ingester(db, gate)
	if err != nil {
		return err
	}
	// What the control learns is for the test to read.
	control := activities.NewControl(db, slog.New(slog.NewJSONHandler(os.Stdout, nil)))
	go control.Run(ctx)
	var journal loop.Journal
	if c.AtOnce {
		journal = mortalJournal{db, c}
	}
	types := worker.Types(worker.Known{})
	acts, err := activities.New(activities.Config{
		Journal: journal, Control: control,
		Approvals: mortalApprovals{db, c}, Calls: mortalCalls{db, c}, Targets: types, Slots: briefSlots{db, c},
		Graphs:   mortalNodes{db, c},
		Ingester: ingester, Ledger: mortal{db, c}, Runs: mortalRuns{db, c}, Agents: db, Policies: db,
		Resolver: resolver.New(db, resolver.Options{}), Schemas: schema.New(0),
		Types: types.All(), Executor: mux,
		Models: map[string]agent.Model{"test": model},
	})
	if err != nil {
		return err
	}
	temporal, err := dial(c.Address)
	if err != nil {
		return err
	}
	defer temporal.Close()
	w := sdkworker.New(temporal, c.Queue, sdkworker.Options{DisableRegistrationAliasing: true})
	workflows.Register(w)
	workflowstest.Register(w)
	acts.Register(w)
	return w.Run(sdkworker.InterruptCh())
}

// startChild starts a worker process, which is killed when the test ends.
func startChild(t *testing.T, cfg childConfig) *exec.Cmd {
	t.Helper()
	return startChildTo(t, cfg, nil)
}

// startChildTo is startChild with a writer for what the control of the worker logs.
func startChildTo(t *testing.T, cfg childConfig, out io.Writer) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(cfg)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childVariable+"="+string(raw))
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// callOnce is a model that calls a tool once, and then is content.
func callOnce(name string) agent.Model { return callTimes(name, 1) }

// callTimes is a model that calls a tool several times in its first turn, and then is content.
func callTimes(name string, times int) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > 1 {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		calls := make([]agent.Call, times)
		for i := range calls {
			calls[i] = agent.Call{ID: fmt.Sprintf("call_%d", i+1), Name: name, Arguments: json.RawMessage(`{"q":"x"}`)}
		}
		return &agent.ModelResponse{Calls: calls}, nil
	})
}

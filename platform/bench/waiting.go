package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// The tools that runs wait for: a person who approves, and a result from outside.
const (
	refundTool = "refund"
	askTool    = "ask"
)

// waiting measures what runs cost that wait, half of them for an approval and half for a
// result from outside: what the worker holds, the connections to the database that it
// uses, and how fast a run goes on that is answered among all the others.
func waiting(ctx context.Context, l *lab) ([]Figure, error) {
	if l.cfg.Toolcrib == "" {
		l.progress("left out: no toolcrib binary is given")
		return nil, nil
	}
	s, err := l.newQuietSite(ctx, "bench-waiting")
	if err != nil {
		return nil, err
	}
	crowd, err := s.gather(ctx)
	if err != nil {
		return nil, err
	}
	empty, err := crowd.settle(ctx)
	if err != nil {
		return nil, err
	}
	n := l.size.Waiting
	l.progress("%d runs start, and wait", n)
	if err := crowd.start(ctx, n); err != nil {
		return nil, err
	}
	full, err := crowd.settle(ctx)
	if err != nil {
		return nil, err
	}
	if full.used == full.samples {
		return nil, errors.New("the worker uses a connection all the time that runs wait")
	}
	l.progress("some of them are answered")
	answered, err := crowd.answer(ctx, l.size.Probes)
	if err != nil {
		return nil, err
	}
	times := record{answered}.times()
	return []Figure{
		Figure{
			Name: fmt.Sprintf("waiting_runs_%d", n), Unit: "MB", Ours: float64(full.held-empty.held) / 1e6, N: n,
			Note: fmt.Sprintf("what the worker holds for them, beside %.0f MB without any; a connection was used in %d of %d "+
				"samples, and in %d of %d without runs", float64(empty.held)/1e6,
				full.used, full.samples, empty.used, empty.samples),
		}.aimed(bound{of: "ours", value: oursOf, most: true, limit: 200, unit: "MB"}),
		{
			Name: fmt.Sprintf("waiting_resumed_%d", n), Unit: "ms", Ours: medianTime(answered), N: len(times),
			P50: ms(percentile(times, 0.5)), P99: ms(percentile(times, 0.99)),
			Note: "from the answer until the run's end: the call and a turn of the model",
		},
	}, nil
}

// newQuietSite is newSite without a worker in this process.
func (l *lab) newQuietSite(ctx context.Context, name string) (*site, error) {
	s := &site{lab: l, queue: name}
	var err error
	if s.database, err = l.newDatabase(ctx, name); err != nil {
		return nil, err
	}
	if s.principal, err = s.newTenant(ctx, name); err != nil {
		return nil, err
	}
	if s.temporal, err = l.dial(ctx); err != nil {
		return nil, err
	}
	s.starts, err = serve.Runs(ctx, serve.HandlerConfig{
		Store: s.Store, Temporal: s.temporal, Namespace: l.temporal.Namespace(), TaskQueue: s.queue, Logger: l.cfg.Logger,
	})
	return s, err
}

// waiters are runs that wait, and a worker process that has them.
type waiters struct {
	*site
	worker  int    // Process ID.
	login   string // The worker's role.
	refunds atomic.Int64
	decider tool.Principal
	agents  []agent.Agent // One that waits for an approval, one that waits for a result.
}

// gather publishes agents whose runs wait, and starts a worker process for them.
func (s *site) gather(ctx context.Context) (*waiters, error) {
	c := &waiters{site: s, login: "bench_waiting_worker"}
	key, _, err := s.CreateKey(ctx, store.Key{
		Tenant: s.principal.Tenant, Name: "decider", CreatedBy: "operator",
		Permissions: []string{wait.DecidePermission, wait.SubmitPermission},
	})
	if err != nil {
		return nil, fmt.Errorf("making a key that answers: %w", err)
	}
	c.decider = key.Principal()
	address, err := c.serveRefunds(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.publishTools(ctx, address); err != nil {
		return nil, err
	}
	folder := filepath.Join(s.lab.dir, "transcripts")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder of transcripts: %w", err)
	}
	for _, slug := range []string{refundTool, askTool} {
		transcript := "turns:\n  - call:\n      - {id: a, tool: " + slug + ", args: {}}\n  - say: Done.\n"
		if err := os.WriteFile(filepath.Join(folder, slug+".yaml"), []byte(transcript), 0o600); err != nil {
			return nil, fmt.Errorf("writing a transcript: %w", err)
		}
		ref, err := tool.ParseRef(slug)
		if err != nil {
			return nil, fmt.Errorf("naming a tool: %w", err)
		}
		a, err := s.publishAgent(ctx, slug+"-agent", agent.Definition{Model: "scripted/" + slug, Tools: []tool.Ref{ref}})
		if err != nil {
			return nil, err
		}
		c.agents = append(c.agents, a)
	}
	return c, c.startWorker(ctx, "--transcripts", folder, "--allow-host", address)
}

// serveRefunds is the service whose calls are to be approved.
func (c *waiters) serveRefunds(ctx context.Context) (address string, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listening for refunds: %w", err)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			c.refunds.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"ok":true}`))
		}),
	}
	go func() { _ = server.Serve(listener) }()
	c.lab.later(func(context.Context) error { return server.Close() })
	return listener.Addr().String(), nil
}

func (c *waiters) publishTools(ctx context.Context, address string) error {
	config, err := json.Marshal(map[string]string{"method": http.MethodPost, "url": "http://" + address + "/refunds"})
	if err != nil {
		return fmt.Errorf("writing a tool: %w", err)
	}
	anything, hour := json.RawMessage(`{"type":"object"}`), 3600
	refund := tool.Definition{
		Name: refundTool, Description: "Pays back.", InputSchema: anything, Implementation: tool.HTTP, Config: config,
		Execution:   tool.Execution{TimeoutSeconds: 30},
		Interaction: tool.Interaction{Confirmation: &tool.Confirmation{ExpiresSeconds: hour}},
	}
	ask := tool.Definition{
		Name: askTool, Description: "Asks somebody.", InputSchema: anything, Implementation: tool.Client,
		Execution: tool.Execution{TimeoutSeconds: 3600},
	}
	tenant, writes := c.principal.Tenant, tool.Policy{EgressClass: tool.EgressWrite}
	if _, _, err := publishTool(ctx, c.Store, tenant, refundTool, refund, writes); err != nil {
		return err
	}
	_, _, err = publishTool(ctx, c.Store, tenant, askTool, ask, tool.Policy{})
	return err
}

// startWorker starts toolcrib worker.
func (c *waiters) startWorker(ctx context.Context, flags ...string) error {
	address, err := store.CreateAppLogin(ctx, c.url, c.login)
	if err != nil {
		return fmt.Errorf("making the worker's login: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.lab.cfg.Toolcrib, //nolint:gosec // The binary that is measured.
		append([]string{"worker", "--task-queue", c.queue}, flags...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TOOLCRIB_DATABASE_URL=" + address,
		"TEMPORAL_ADDRESS=" + c.lab.temporal.Address(), "TEMPORAL_NAMESPACE=" + c.lab.temporal.Namespace(),
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a worker: %w", err)
	}
	c.worker = cmd.Process.Pid
	c.lab.later(func(context.Context) error {
		signalErr := cmd.Process.Signal(syscall.SIGTERM)
		if err := errors.Join(signalErr, cmd.Wait()); err != nil {
			return fmt.Errorf("the worker: %w: %s", err, &said)
		}
		return nil
	})
	return nil
}

// start starts runs, and returns when all of them wait.
func (c *waiters) start(ctx context.Context, n int) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(c.lab.size.AtOnce)
	for i := range n {
		group.Go(func() error {
			_, err := c.starts.Start(running, runs.NewRun{
				Principal: c.principal, Agent: c.agents[i%len(c.agents)].Slug, Input: []byte(`"Please."`),
			})
			if err != nil {
				return fmt.Errorf("starting a run that waits: %w", err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for deadline := time.Now().Add(10 * time.Minute); ; {
		waits, err := c.count(ctx, `select (select count(*) from approvals where status = 'pending')
			+ (select count(*) from pending_tool_calls where status = 'waiting')`)
		if err != nil || waits == n {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d runs wait", waits, n)
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// held is what a worker has while nothing happens.
type held struct {
	held          int64 // Memory in bytes, at the end.
	used, samples int   // Samples in which a connection was used, of all.
}

// settle looks at the worker for a while in which nothing happens.
func (c *waiters) settle(ctx context.Context) (held, error) {
	var seen held
	for end := time.Now().Add(c.lab.size.Settle); time.Now().Before(end) || seen.samples == 0; {
		if err := pause(ctx, min(100*time.Millisecond, c.lab.size.Settle/10)); err != nil {
			return seen, err
		}
		var err error
		if seen.held, err = memory(c.worker); err != nil {
			return seen, err
		}
		busy, err := c.count(ctx, `select count(*) from pg_stat_activity
			where usename = $1 and state is distinct from 'idle'`, c.login)
		if err != nil {
			return seen, err
		}
		seen.samples++
		if busy > 0 {
			seen.used++
		}
	}
	return seen, nil
}

// answer answers some of the waits, one after the other, and checks that their runs ended.
func (c *waiters) answer(ctx context.Context, n int) (sample, error) {
	asked, err := c.ListApprovals(ctx, wait.Query{
		Tenant: c.principal.Tenant, Status: wait.Pending, Limit: cmp.Or((n+1)/2, 1),
	})
	if err != nil {
		return sample{}, fmt.Errorf("listing approvals: %w", err)
	}
	open, err := c.ListCalls(ctx, wait.CallQuery{
		Tenant: c.principal.Tenant, Status: wait.CallWaiting, Limit: cmp.Or(n/2, 1),
	})
	if err != nil {
		return sample{}, fmt.Errorf("listing calls: %w", err)
	}
	var got sample
	timed := func(run string, act func() error) error {
		began := time.Now()
		if err := act(); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
		for {
			found, err := c.FindRun(ctx, c.principal.Tenant, run)
			switch {
			case err != nil:
				return fmt.Errorf("looking at the run: %w", err)
			case found.Status == agent.RunCompleted:
				got.each = append(got.each, time.Since(began))
				return nil
			case found.Status.Final() || time.Since(began) > time.Minute:
				return fmt.Errorf("run %s was answered and is %s", run, found.Status)
			}
			if err := pause(ctx, time.Millisecond); err != nil {
				return err
			}
		}
	}
	for _, a := range asked {
		err = errors.Join(err, timed(a.RunID, func() error {
			_, err := c.starts.Decide(ctx, runs.Decision{Principal: c.decider, ID: a.ID, Approve: true, Seen: a.Binding})
			return err
		}))
	}
	for _, call := range open {
		err = errors.Join(err, timed(call.RunID, func() error {
			_, err := c.starts.SubmitResult(ctx, runs.Submission{
				Principal: c.decider, ID: call.ID, Result: json.RawMessage(`{"ok":true}`),
			})
			return err
		}))
	}
	if err == nil && c.refunds.Load() != int64(len(asked)) {
		err = fmt.Errorf("%d refunds were approved and %d were made", len(asked), c.refunds.Load())
	}
	return got, err
}

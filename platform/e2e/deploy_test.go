package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

var (
	deployFor   = flag.Duration("deploy-for", 8*time.Second, "how long TestDeploysUnderLoad lasts")
	deployEvery = flag.Duration("deploy-every", 2*time.Second, "the time between two deploys")
)

// deploy starts a worker of its own; with a build, as that version of the deployment. Stop it
// before the test ends.
func (s *site) deploy(cfg worker.Config, deployment, build string) (stop func()) {
	s.t.Helper()
	cfg.Store = s.Store
	plugin, err := worker.New(s.t.Context(), cfg)
	require.NoError(s.t, err)
	c, err := dial(server.Address(), plugin)
	require.NoError(s.t, err)
	options := sdkworker.Options{DisableRegistrationAliasing: true}
	if build != "" {
		options.DeploymentOptions = sdkworker.DeploymentOptions{
			UseVersioning: true, Version: sdkworker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: build},
		}
	}
	w := sdkworker.New(c, s.queue, options)
	require.NoError(s.t, w.Start())
	if build != "" {
		setCurrent(s.t, deployment, build)
	}
	return func() {
		w.Stop()
		c.Close()
		require.NoError(s.t, plugin.Close())
	}
}

// Workers are replaced again and again while runs and single calls go on: none fails,
// no question is asked twice, and no call needs a second attempt. So it is where they are two
// builds of a Worker Deployment by turns, to which runs are pinned.
func TestDeploysUnderLoad(t *testing.T) {
	t.Parallel()

	for name, builds := range map[string][]string{"Unversioned": {""}, "AlternatingBuilds": {"blue", "green"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deploysUnderLoad(t, builds)
		})
	}
}

func deploysUnderLoad(t *testing.T, builds []string) {
	t.Helper()
	const turns, callers = 12, 6
	s := newSite(t)
	var asked, charged atomic.Int64
	functions := greeter(t, s)
	require.NoError(t, function.Define(functions, "charge", "charge", func(context.Context, struct{}) (noteOut, error) {
		charged.Add(1)
		time.Sleep(5 * time.Millisecond)
		return noteOut{Name: "x"}, nil
	}))
	s.publish("charge", functionTool("charge", onlyOnce), tool.Policy{})
	s.publish("greetTwice", composition(inOrder, tool.Execution{}), tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "greet", "charge", "greetTwice"),
		Limits: agent.Limits{MaxTurns: turns + 1},
	})
	model := agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		asked.Add(1)
		time.Sleep(10 * time.Millisecond)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if req.Turn > turns {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		id := strconv.Itoa(req.Turn)
		return &agent.ModelResponse{Calls: []agent.Call{
			call("a"+id, "greet", noteIn{"x"}),
			{ID: "b" + id, Name: "charge", Arguments: json.RawMessage(`{}`)},
			call("c"+id, "greetTwice", noteIn{"x"}),
		}}, nil
	})
	deployments, name := 0, "d-"+newID(t)
	start := func() (stop func()) {
		build := builds[deployments%len(builds)]
		deployments++
		return s.deploy(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}}, name, build)
	}
	stop := start()
	over := time.Now().Add(*deployFor)
	var mu sync.Mutex
	expected := map[string]int{} // Calls, by run.
	expect := func(run string, calls int) {
		mu.Lock()
		defer mu.Unlock()
		expected[run] = calls
	}
	var load sync.WaitGroup
	for range callers {
		load.Go(func() {
			for time.Now().Before(over) {
				run, w := s.run(a, "go")
				if _, err := s.wait(w); err != nil {
					t.Errorf("run %s: %v", run.ID, err)
				}
				expect(run.ID, turns*5)
				_, id, _, err := s.toolCall("charge", `{}`)
				if err != nil {
					t.Errorf("call %s: %v", id, err)
				}
				expect(id, 1)
			}
		})
	}
	for time.Now().Before(over) {
		time.Sleep(*deployEvery)
		next := start()
		stop()
		stop = next
	}
	if len(builds) > 1 {
		defer start()() // Runs that are pinned to the other build go on there.
	}
	load.Wait()
	stop()

	runs, charges := 0, 0
	for id, calls := range expected {
		made := s.invocations(id)
		require.Len(t, made, calls)
		for _, c := range made {
			require.Equal(t, tool.StatusCompleted, c.Status, c.Slug+": "+c.Error)
			if c.Slug != "greetTwice" { // One may be handed over between two of its steps.
				require.Equal(t, 1, c.Attempt, c.Slug)
			}
			if c.Slug == "charge" {
				charges++
			}
		}
		if len(made) > 1 {
			runs++
		}
	}
	require.EqualValues(t, runs*(turns+1), asked.Load(), "no question was asked twice")
	require.EqualValues(t, charges, charged.Load(), "no effect was made twice")
	t.Logf("%d deploys, %d runs, %d calls of effect", deployments, runs, charges)
}

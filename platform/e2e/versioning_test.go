package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows/workflowstest"
)

// build starts a worker that is a version of a Worker Deployment. The answers of its
// models end with the build.
func (o *office) build(deployment, id string) (stop func()) {
	o.t.Helper()
	plugin, err := worker.New(o.t.Context(), worker.Config{
		Store: o.Store, Allow: allow(o.upstream), Models: map[string]agent.Model{"test": answersOf(id)},
	})
	require.NoError(o.t, err)
	c, err := dial(server.Address(), plugin)
	require.NoError(o.t, err)
	w := sdkworker.New(c, o.queue, sdkworker.Options{
		DisableRegistrationAliasing: true,
		DeploymentOptions: sdkworker.DeploymentOptions{
			UseVersioning: true, Version: sdkworker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: id},
		},
	})
	w.RegisterWorkflowWithOptions(workflowstest.Chain, workflow.RegisterOptions{
		Name: workflowstest.ChainWorkflow, VersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	})
	require.NoError(o.t, w.Start())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			w.Stop()
			c.Close()
			require.NoError(o.t, plugin.Close())
		}
	}
	o.t.Cleanup(stop)
	return stop
}

// answersOf is a model that asks for a refund in its first turn, and then answers with
// the build of its worker.
func answersOf(build string) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn == 1 {
			return &agent.ModelResponse{Calls: []agent.Call{
				{ID: "c", Name: "refund", Arguments: json.RawMessage(`{"q":"` + build + `"}`)},
			}}, nil
		}
		return &agent.ModelResponse{Text: "answered by " + build}, nil
	})
}

// deployment runs "toolcrib deployment" and returns what it printed.
func deployment(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	var environ []string
	if !slices.ContainsFunc(args, func(arg string) bool { return arg == "--settings" || arg == "--temporal-address" }) {
		environ = []string{"TEMPORAL_ADDRESS=" + server.Address()}
	}
	env := cli.Env{
		Environ: environ, In: strings.NewReader(""), Out: &stdout, Err: &stderr, Dir: t.TempDir(),
	}
	code = cli.Run(t.Context(), env, append([]string{"deployment"}, args...), operator.New)
	return code, stdout.String(), stderr.String()
}

// setCurrent makes a build current, once its worker has polled.
func setCurrent(t *testing.T, name, build string) {
	t.Helper()
	var errs string
	require.Eventually(t, func() bool {
		var code int
		code, _, errs = deployment(t, "set-current", name, build)
		return code == cli.ExitOK
	}, time.Minute, 200*time.Millisecond, "setting %s current: %s", build, errs)
}

// versionOf returns the build that a workflow's last execution is on, and its
// versioning behaviour.
func (s *site) versionOf(workflowID string) (build, behaviour string) {
	s.t.Helper()
	d, err := s.temporal.DescribeWorkflowExecution(s.t.Context(), workflowID, "")
	require.NoError(s.t, err)
	v := d.GetWorkflowExecutionInfo().GetVersioningInfo()
	return v.GetDeploymentVersion().GetBuildId(), v.GetBehavior().String()
}

// A run that waits when another build becomes current ends its call on the build it
// began on and its last turn on the current one; new runs begin on the current one. A
// build whose runs have all ended is drained, and its worker can be stopped.
func TestWorkerVersions(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	name := "d-" + newID(t)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	stopOld := o.build(name, "old")
	setCurrent(t, name, "old")
	_, waiting := o.run(a, "go")
	asked := o.waiting(1)[0]
	build, behaviour := o.versionOf(waiting.GetID())
	require.Equal(t, "old", build)
	require.Equal(t, "Pinned", behaviour)

	o.build(name, "new")
	setCurrent(t, name, "new")
	_, out, _ := deployment(t, "show", name, "--json")
	var shape struct {
		Current  string
		Versions []struct{ Build, Status string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &shape), out)
	require.Equal(t, "new", shape.Current)
	require.Len(t, shape.Versions, 2)
	code, _, errs := deployment(t, "drain", name, "new")
	require.Equal(t, cli.ExitConflict, code, errs)
	code, _, errs = deployment(t, "drain", name, "missing")
	require.Equal(t, cli.ExitNotFound, code, errs)
	code, _, errs = deployment(t, "set-current", name, "missing")
	require.NotEqual(t, cli.ExitOK, code, "a build that no worker has")
	require.NotEmpty(t, errs)

	// The first execution is pinned: its call is made by the old build.
	build, _ = o.versionOf(waiting.GetID())
	require.Equal(t, "old", build)
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	first, err := o.wait(waiting)
	require.NoError(t, err)
	require.Equal(t, 1, o.refunds())
	require.Equal(t, "answered by new", first.Answer)

	_, later := o.run(a, "go")
	asked = o.waiting(1)[0]
	build, _ = o.versionOf(later.GetID())
	require.Equal(t, "new", build)
	stopOld()
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	second, err := o.wait(later)
	require.NoError(t, err)
	require.Equal(t, "answered by new", second.Answer)
	require.Equal(t, 2, o.refunds())
}

// A build to which a run is pinned is draining, and is drained once that run has ended there. A
// version is deleted only when no worker of it is left.
func TestDrainedVersion(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	name := "d-" + newID(t)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	o.build(name, "old")
	setCurrent(t, name, "old")
	_, pinned := o.run(a, "go")
	asked := o.waiting(1)[0]
	o.build(name, "new")
	setCurrent(t, name, "new")
	require.Equal(t, map[string]string{"old": "draining", "new": "current"}, statuses(t, name))
	code, _, errs := deployment(t, "drain", name, "old", "--timeout", "12s") // Two looks of the server.
	require.Equal(t, cli.ExitUnavailable, code, errs)
	require.Contains(t, errs, "old of "+name+" is still draining after 12s")
	build, _ := o.versionOf(pinned.GetID())
	require.Equal(t, "old", build)

	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	_, err := o.wait(pinned)
	require.NoError(t, err)
	code, out, errs := deployment(t, "drain", name, "old", "--timeout", "2m")
	require.Equal(t, cli.ExitOK, code, errs)
	require.Equal(t, "old of "+name+" is drained\n", out)
	require.Equal(t, map[string]string{"old": "drained", "new": "current"}, statuses(t, name))
	code, _, errs = deployment(t, "drain", name, "old", "--delete")
	require.Equal(t, cli.ExitConflict, code, errs)
	require.Contains(t, statuses(t, name), "old", "its worker runs still")

	setCurrent(t, name, "old")
	require.Equal(t, "current", statuses(t, name)["old"], "going back is possible")
}

// statuses returns the statuses of the builds of a deployment.
func statuses(t *testing.T, name string) map[string]string {
	t.Helper()
	code, out, errs := deployment(t, "show", name, "--json")
	require.Equal(t, cli.ExitOK, code, errs)
	var shape struct {
		Versions []struct{ Build, Status string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &shape), out)
	found := map[string]string{}
	for _, v := range shape.Versions {
		found[v.Build] = v.Status
	}
	return found
}

// A call of a host's workflow that waits goes on with the build that is current when it
// is decided, though the build that it began on has no workers any more.
func TestWaitingCallsMoveToTheCurrentBuild(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	name := "d-" + newID(t)
	stopOld := o.build(name, "old")
	setCurrent(t, name, "old")
	w, err := o.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "host/" + name, TaskQueue: o.queue},
		workflowstest.ChainWorkflow, workflowstest.ChainInput{
			Principal: o.principal, Tool: "refund", Calls: 1, Arguments: json.RawMessage(`{"q":"x"}`),
		})
	require.NoError(t, err)
	asked := o.waiting(1)[0]
	o.build(name, "new")
	setCurrent(t, name, "new")
	stopOld()
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	require.NoError(t, w.Get(t.Context(), nil))
	require.Equal(t, 1, o.refunds())
	build, behaviour := o.versionOf(asked.WorkflowID)
	require.Equal(t, "new", build)
	require.Equal(t, "AutoUpgrade", behaviour)
}

// A share of new runs goes to a build that ramps: all of them at 100 percent, none at 0.
func TestRampedBuild(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	name := "d-" + newID(t)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	o.build(name, "old")
	setCurrent(t, name, "old")
	o.build(name, "new")
	for _, share := range []string{"100", "0"} {
		require.Eventually(t, func() bool {
			code, _, _ := deployment(t, "ramp", name, "new", share)
			return code == cli.ExitOK
		}, time.Minute, 200*time.Millisecond)
		want := map[string]string{"100": "new", "0": "old"}[share]
		_, w := o.run(a, "go") // The command ended once the queue of the workers has the share.
		asked := o.waiting(1)[0]
		build, _ := o.versionOf(w.GetID())
		require.Equal(t, want, build, "%s%%", share)
		require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Reason: "probe"})))
		_, err := o.wait(w)
		require.NoError(t, err)
	}
	code, _, errs := deployment(t, "ramp", name, "new", "101")
	require.Equal(t, cli.ExitUsage, code, errs)
	_, out, _ := deployment(t, "list")
	require.Contains(t, out, name)
}

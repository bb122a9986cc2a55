package e2e_test

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

var (
	purely      = tool.Execution{Pure: true, TimeoutSeconds: 1, MaxAttempts: 10, Lane: tool.LaneVisible}
	idempotent  = tool.Execution{Idempotent: true, TimeoutSeconds: 1, MaxAttempts: 10, Lane: tool.LaneVisible}
	visiblyOnce = tool.Execution{TimeoutSeconds: 1, MaxAttempts: 10, Lane: tool.LaneVisible}

	inPlacePurely     = tool.Execution{Pure: true, TimeoutSeconds: 1, MaxAttempts: 10}
	inPlaceIdempotent = tool.Execution{Idempotent: true, TimeoutSeconds: 1, MaxAttempts: 10}
	onlyOnce          = tool.Execution{TimeoutSeconds: 1, MaxAttempts: 10}
)

// A worker is killed between each two phases of the ledger. The run continues
// all the same; an idempotent effect happens once, and one that must not be
// repeated is sent at most once and ends unknown when it cannot be known
// whether it was sent.
func TestKilledWorker(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		x        tool.Execution
		at       point
		status   tool.InvocationStatus
		requests int
	}{
		{"PureBeforeAdmit", purely, beforeAdmit, tool.StatusCompleted, 1},
		{"PureAfterAdmit", purely, afterAdmit, tool.StatusCompleted, 1},
		{"PureAfterAnswer", purely, afterAnswer, tool.StatusCompleted, 2},
		{"PureAfterSettle", purely, afterSettle, tool.StatusCompleted, 1},
		{"IdempotentBeforeAdmit", idempotent, beforeAdmit, tool.StatusCompleted, 1},
		{"IdempotentAfterAdmit", idempotent, afterAdmit, tool.StatusCompleted, 1},
		{"IdempotentAfterSent", idempotent, afterSent, tool.StatusCompleted, 1},
		{"IdempotentAfterAnswer", idempotent, afterAnswer, tool.StatusCompleted, 2},
		{"IdempotentAfterSettle", idempotent, afterSettle, tool.StatusCompleted, 1},
		{"OnceBeforeAdmit", visiblyOnce, beforeAdmit, tool.StatusCompleted, 1},
		{"OnceAfterAdmit", visiblyOnce, afterAdmit, tool.StatusCompleted, 1},
		{"OnceAfterSent", visiblyOnce, afterSent, tool.StatusUnknown, 0},
		{"OnceAfterAnswer", visiblyOnce, afterAnswer, tool.StatusUnknown, 1},
		{"OnceAfterSettle", visiblyOnce, afterSettle, tool.StatusCompleted, 1},
		{"InPlacePureBeforeAdmit", inPlacePurely, beforeAdmit, tool.StatusCompleted, 1},
		{"InPlacePureAfterAdmit", inPlacePurely, afterAdmit, tool.StatusCompleted, 1},
		{"InPlacePureAfterAnswer", inPlacePurely, afterAnswer, tool.StatusCompleted, 2},
		{"InPlacePureAfterSettle", inPlacePurely, afterSettle, tool.StatusCompleted, 1},
		{"InPlaceIdempotentBeforeAdmit", inPlaceIdempotent, beforeAdmit, tool.StatusCompleted, 1},
		{"InPlaceIdempotentAfterAdmit", inPlaceIdempotent, afterAdmit, tool.StatusCompleted, 1},
		{"InPlaceIdempotentAfterSent", inPlaceIdempotent, afterSent, tool.StatusCompleted, 1},
		{"InPlaceIdempotentAfterAnswer", inPlaceIdempotent, afterAnswer, tool.StatusCompleted, 2},
		{"InPlaceIdempotentAfterSettle", inPlaceIdempotent, afterSettle, tool.StatusCompleted, 1},
		{"InPlaceOnceBeforeAdmit", onlyOnce, beforeAdmit, tool.StatusCompleted, 1},
		{"InPlaceOnceAfterAdmit", onlyOnce, afterAdmit, tool.StatusCompleted, 1},
		{"InPlaceOnceAfterSent", onlyOnce, afterSent, tool.StatusUnknown, 0},
		{"InPlaceOnceAfterAnswer", onlyOnce, afterAnswer, tool.StatusUnknown, 1},
		{"InPlaceOnceAfterSettle", onlyOnce, afterSettle, tool.StatusCompleted, 1},
		{"BeforeTurn", visiblyOnce, beforeTurn, tool.StatusCompleted, 1},
		{"AfterTurn", visiblyOnce, afterTurn, tool.StatusCompleted, 1},
		{"BeforeEnd", visiblyOnce, beforeEnd, tool.StatusCompleted, 1},
		{"AfterEnd", visiblyOnce, afterEnd, tool.StatusCompleted, 1},
		{"InPlaceBeforeTurn", onlyOnce, beforeTurn, tool.StatusCompleted, 1},
		{"InPlaceAfterTurn", onlyOnce, afterTurn, tool.StatusCompleted, 1},
		{"InPlaceBeforeEnd", onlyOnce, beforeEnd, tool.StatusCompleted, 1},
		{"InPlaceAfterEnd", onlyOnce, afterEnd, tool.StatusCompleted, 1},
	}
	for _, tt := range tests {
		for how, atOnce := range map[string]bool{"": false, "AtOnce": true, "Inline": true} {
			t.Run(tt.name+how, func(t *testing.T) {
				t.Parallel()

				c := newCanary(t)
				s := newSite(t)
				s.regular = how != "Inline"
				s.publish("effect", httpTool(c.URL, tt.x), tool.Policy{EgressClass: tool.EgressReadOnly})
				a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})

				first := s.child(c, tt.at, syscall.SIGKILL)
				first.AtOnce = atOnce
				killed := startChild(t, first)
				run, w := s.run(a, "go")
				requireKilled(t, killed)
				next := s.child(c, "", 0)
				next.AtOnce = atOnce
				startChild(t, next)

				_, err := s.wait(w)
				require.NoError(t, err)
				ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
				require.NoError(t, err)
				require.Equal(t, agent.RunCompleted, ended.Status)
				calls := s.invocations(run.ID)
				require.Len(t, calls, 1)
				require.Equal(t, tt.status, calls[0].Status, calls[0].Error)
				requests, keys := c.count()
				require.Equal(t, tt.requests, requests)
				require.LessOrEqual(t, keys, 1, "the attempts had different idempotency keys")
				requireAnswered(t, s, run.ID)
			})
		}
	}
}

// A worker that is frozen before it sends, and wakes up after its call was
// settled by another, sends nothing, although its own time is not over: the
// fence of its admission is not the effect's any more. Pure calls have no gate
// before they are sent; an attempt that slept for too long gives up by itself.
func TestZombieSendsNothing(t *testing.T) {
	t.Parallel()

	slow := func(x tool.Execution) tool.Execution {
		x.TimeoutSeconds = 120
		return x
	}
	for name, tt := range map[string]struct {
		x      tool.Execution
		at     point
		inline bool
	}{
		"Pure":       {slow(purely), afterAdmit, false},
		"Idempotent": {slow(idempotent), beforeSent, false},
		"Once":       {slow(onlyOnce), beforeSent, false},

		"FastPure":       {inPlacePurely, afterAdmit, false},
		"FastIdempotent": {inPlaceIdempotent, beforeSent, false},

		"InlinePure":       {inPlacePurely, afterAdmit, true},
		"InlineIdempotent": {inPlaceIdempotent, beforeSent, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			s.publish("effect", httpTool(c.URL, tt.x), tool.Policy{EgressClass: tool.EgressReadOnly})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})

			s.regular = !tt.inline
			zombie := startChild(t, s.child(c, tt.at, syscall.SIGSTOP))
			run, w := s.run(a, "go")
			requireStopped(t, zombie)
			startChild(t, s.child(c, "", 0))
			_, err := s.wait(w)
			require.NoError(t, err)
			settled := s.invocations(run.ID)
			require.Equal(t, tool.StatusCompleted, settled[0].Status, settled[0].Error)
			before, _ := c.count()
			require.Equal(t, 1, before)

			require.NoError(t, zombie.Process.Signal(syscall.SIGCONT))
			require.Never(t, func() bool { now, _ := c.count(); return now != before }, 3*time.Second, 50*time.Millisecond)
			require.Equal(t, settled, s.invocations(run.ID), "the zombie changed the record")
		})
	}
}

// A worker dies after it marked the effect as sent, and the next attempt meets
// a failure that passes before it is admitted. The mark is not its own to take
// back: the call ends unknown, and is not sent again.
func TestPassingFailureKeepsTheMark(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	s := newSite(t)
	s.publish("effect", httpTool(c.URL, onlyOnce), tool.Policy{EgressClass: tool.EgressReadOnly})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
	first := startChild(t, s.child(c, afterSent, syscall.SIGKILL))
	run, w := s.run(a, "go")
	requireKilled(t, first)
	second := s.child(c, "", 0)
	second.Busy = true
	startChild(t, second)
	_, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, tool.StatusUnknown, s.invocations(run.ID)[0].Status)
	requests, _ := c.count()
	require.Zero(t, requests)
}

// child describes a worker process of the site.
func (s *site) child(c *canary, at point, signal syscall.Signal) childConfig {
	s.t.Helper()
	u, err := url.Parse(c.URL)
	require.NoError(s.t, err)
	return childConfig{
		Address: server.Address(), Database: s.db.URL, Queue: s.queue, Upstream: u.Host, Tool: "effect",
		Point: at, Marker: filepath.Join(s.t.TempDir(), "hit"), Signal: signal,
	}
}

// requireKilled waits until the process was killed by SIGKILL.
func requireKilled(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	status, ok := exit.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGKILL, status.Signal(), "the worker ended otherwise: %v", err)
}

// requireStopped waits until the process was stopped by SIGSTOP.
func requireStopped(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var status syscall.WaitStatus
	_, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "the worker ended instead of stopping")
}

// requireAnswered checks that the transcript has one tool message for the call.
func requireAnswered(t *testing.T, s *site, runID string) {
	t.Helper()
	messages, err := s.Transcript(t.Context(), s.principal.Tenant, runID)
	require.NoError(t, err)
	n := 0
	for _, m := range messages {
		if m.Role == agent.RoleTool {
			n++
		}
	}
	require.Equal(t, 1, n)
}

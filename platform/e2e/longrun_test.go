package e2e_test

import (
	"context"
	"flag"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

var longTurns = flag.Int("long-turns", 250, "how many turns the runs of TestLongRun take")

// maxHistory bounds an execution of a run's chain, in events and bytes: far below what Temporal
// warns of, 10,240 events and 10 MiB.
const maxHistory, maxHistoryBytes = 5000, 4 << 20

// A run of very many turns ends, has made each call once, and leaves histories that are bounded,
// one execution after the other. What a turn takes is logged.
func TestLongRun(t *testing.T) {
	t.Parallel()
	for _, lane := range []tool.Lane{tool.LaneFast, tool.LaneVisible} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()
			longRun(t, lane)
		})
	}
}

func longRun(t *testing.T, lane tool.Lane) {
	t.Helper()
	turns := *longTurns
	s := newSite(t)
	s.publish("read", functionTool("read", tool.Execution{Pure: true, Lane: lane}), tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "read"),
		Limits: agent.Limits{MaxTurns: turns + 1, MaxCalls: turns, TimeoutSeconds: 7200},
	})
	asked := make([]time.Time, 0, turns+1)
	model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		asked = append(asked, time.Now())
		if req.Turn > turns {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		n := strconv.Itoa(req.Turn)
		return &agent.ModelResponse{Calls: []agent.Call{call("call_"+n, "read", noteIn{n})}}, nil
	})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": model}})
	run, w := s.run(a, "go")
	first := w.GetRunID()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	require.NoError(t, w.Get(ctx, nil))

	ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, ended.Status)
	require.Equal(t, turns+1, ended.Turns)
	require.Len(t, asked, turns+1, "no question was asked twice")
	var calls int
	require.NoError(t, s.db.Conn(t).QueryRow(t.Context(),
		"select count(*) from tool_invocations where run_id = $1 and status = 'completed'", run.ID).Scan(&calls))
	require.Equal(t, turns, calls)

	executions, largest, bytes := 0, 0, 0
	for id := first; id != ""; executions++ {
		h := historyOf(t.Context(), t, s.temporal, run.WorkflowID, id)
		largest, bytes = max(largest, len(h.GetEvents())), max(bytes, historyBytes(h))
		id = continuedBy(h)
	}
	require.LessOrEqual(t, largest, maxHistory)
	require.LessOrEqual(t, bytes, maxHistoryBytes)
	window := min(100, turns/3)
	took := func(from int) time.Duration {
		each := make([]time.Duration, window)
		for i := range each {
			each[i] = asked[from+i+1].Sub(asked[from+i])
		}
		return slices.Sorted(slices.Values(each))[window/2]
	}
	early, late := took(5), took(turns-window)
	t.Logf("%d turns in %d executions; the largest has %d events and %d bytes; a turn took %s early and %s late: %.2f",
		turns, executions, largest, bytes, early.Round(10*time.Microsecond), late.Round(10*time.Microsecond),
		float64(late)/float64(early))
}

// continuedBy returns the execution that goes on where a history ends; empty for none.
func continuedBy(h *historypb.History) string {
	last := h.GetEvents()[len(h.GetEvents())-1]
	if last.GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW {
		return ""
	}
	return last.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
}

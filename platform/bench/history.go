package bench

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// chainHistory is the histories of a workflow and of those it continued as.
type chainHistory struct {
	events []*historypb.HistoryEvent
	runs   int
	bytes  int64
}

func (s *site) history(ctx context.Context, w client.WorkflowRun) (chainHistory, error) {
	described, err := s.temporal.DescribeWorkflowExecution(ctx, w.GetID(), "")
	if err != nil {
		return chainHistory{}, fmt.Errorf("describing %s: %w", w.GetID(), err)
	}
	var h chainHistory
	run := described.GetWorkflowExecutionInfo().GetFirstRunId()
	for run != "" {
		described, err := s.temporal.DescribeWorkflowExecution(ctx, w.GetID(), run)
		if err != nil {
			return h, fmt.Errorf("describing %s: %w", w.GetID(), err)
		}
		h.runs++
		h.bytes += described.GetWorkflowExecutionInfo().GetHistorySizeBytes()
		events := s.temporal.GetWorkflowHistory(ctx, w.GetID(), run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		run = ""
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				return h, fmt.Errorf("reading the history of %s: %w", w.GetID(), err)
			}
			h.events = append(h.events, e)
			run = e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		}
	}
	return h, nil
}

// checkLane checks that the calls of an agent run took the lane of their tool: in the
// visible one each began an activity, in the fast one they were made in place.
func (h chainHistory) checkLane(lane tool.Lane, calls int) error {
	invoked, advanced := 0, 0
	for _, e := range h.events {
		switch e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() {
		case wire.InvokeActivity(tool.Function):
			invoked++
		case wire.AdvanceActivity:
			advanced++
		}
	}
	// A visible call that is alone in its turn begins an Advance. The first question is asked in the
	// workflow's own task.
	if lane == tool.LaneFast && invoked+advanced > calls || lane == tool.LaneVisible && invoked+advanced < calls {
		return fmt.Errorf("%d calls in the %s lane left %d activities", calls, lane, invoked+advanced)
	}
	return nil
}

// wholeTime is how long a workflow took from its first task to its end.
func (h chainHistory) wholeTime() time.Duration {
	for _, e := range h.events {
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED {
			return h.events[len(h.events)-1].GetEventTime().AsTime().Sub(e.GetEventTime().AsTime())
		}
	}
	return 0
}

package bench

import (
	"context"
	"fmt"
	"slices"
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

// checkLane checks that the calls took the lane of their tool: in the fast one
// they leave a marker, in the visible one they are activities.
func (h chainHistory) checkLane(lane tool.Lane, calls int) error {
	activities, markers := 0, 0
	for _, e := range h.events {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == wire.InvokeActivity(tool.Function) {
			activities++
		}
		if e.GetMarkerRecordedEventAttributes().GetMarkerName() == "LocalActivity" {
			markers++
		}
	}
	if lane == tool.FastLane && (activities > 0 || markers < calls) || lane == tool.VisibleLane && activities != calls {
		return fmt.Errorf("%d calls in the %s lane left %d activities and %d markers", calls, lane, activities, markers)
	}
	return nil
}

// batchTime is how long the calls of an agent's first turn took: from the
// model's answer until the model is asked again.
func (h chainHistory) batchTime() (time.Duration, error) {
	var scheduled []int64
	var asked, answered []time.Time
	for _, e := range h.events {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == wire.ModelTurnActivity {
			scheduled, asked = append(scheduled, e.GetEventId()), append(asked, e.GetEventTime().AsTime())
		}
		if slices.Contains(scheduled, e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()) {
			answered = append(answered, e.GetEventTime().AsTime())
		}
	}
	if len(asked) < 2 || len(answered) < 1 {
		return 0, fmt.Errorf("the model was asked %d times and answered %d times", len(asked), len(answered))
	}
	return asked[1].Sub(answered[0]), nil
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

package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/faulttest/grpcproxy"
)

// methods are those of Temporal's frontend that the platform calls.
var methods = []string{
	"StartWorkflowExecution", "DescribeWorkflowExecution", "RequestCancelWorkflowExecution", "GetWorkflowExecutionHistory",
	"ListWorkflowExecutions", "PollWorkflowTaskQueue", "RespondWorkflowTaskCompleted", "PollActivityTaskQueue",
	"RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RecordActivityTaskHeartbeat",
}

// frontendFaults happen to the calls to Temporal.
func frontendFaults() []fault {
	inject := func(f grpcproxy.Fault) func(*site, context.Context, *rand.Rand) (func() error, error) {
		return func(s *site, _ context.Context, _ *rand.Rand) (func() error, error) {
			i := s.frontend.Inject(f)
			return func() error { i.Cancel(); return nil }, nil
		}
	}
	out := []fault{
		{"Temporal unavailable", inject(grpcproxy.Fault{Effect: grpcproxy.FailBefore})},
		{"Temporal blackholed", inject(grpcproxy.Fault{Effect: grpcproxy.Hang})},
		{"starts not answered", inject(grpcproxy.Fault{Method: "StartWorkflowExecution", Effect: grpcproxy.FailAfter})},
	}
	for _, effect := range grpcproxy.Effects() {
		out = append(out, fault{
			"method " + string(effect), func(s *site, _ context.Context, dice *rand.Rand) (func() error, error) {
				var injected []*grpcproxy.Injection
				for range 3 {
					injected = append(injected, s.frontend.Inject(grpcproxy.Fault{
						Method: methods[dice.IntN(len(methods))], Effect: effect, Times: 1 + dice.IntN(3), Pause: 500 * time.Millisecond,
					}))
				}
				return func() error {
					for _, i := range injected {
						i.Cancel()
					}
					return nil
				}, nil
			},
		})
	}
	return out
}

var errNothing = errors.New("there is no such run at the moment")

// workflowFaults are what an operator does to workflows by hand.
func workflowFaults() []fault {
	return []fault{
		{"workflow reset", (*site).resetOne},
		{"workflow terminated", (*site).terminateOne},
		{"workflow cancelled", func(s *site, ctx context.Context, dice *rand.Rand) (func() error, error) {
			id, err := s.recent(ctx, dice)
			if err != nil {
				return nil, err
			}
			if err := s.temporal.CancelWorkflow(ctx, id, ""); err != nil {
				return nil, fmt.Errorf("%w: %w", errNothing, err)
			}
			return nil, nil
		}},
	}
}

// recent returns the workflow id of one of the last runs.
func (s *site) recent(ctx context.Context, dice *rand.Rand) (string, error) {
	ids := query[struct{ ID string }](
		ctx, s, `select workflow_id from runs where tenant_id = $1 order by created_at desc limit 8`, s.tenant,
	)
	if len(ids) == 0 {
		return "", errNothing
	}
	return ids[dice.IntN(len(ids))].ID, nil
}

func (s *site) terminateOne(ctx context.Context, dice *rand.Rand) (func() error, error) {
	id, err := s.recent(ctx, dice)
	if err != nil {
		return nil, err
	}
	s.handle(id)
	if err := s.temporal.TerminateWorkflow(ctx, id, "", "chaos"); err != nil {
		return nil, fmt.Errorf("%w: %w", errNothing, err)
	}
	return nil, nil
}

// resetOne takes a workflow back to one of its completed tasks.
func (s *site) resetOne(ctx context.Context, dice *rand.Rand) (func() error, error) {
	id, err := s.recent(ctx, dice)
	if err != nil {
		return nil, err
	}
	described, err := s.temporal.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNothing, err)
	}
	execution := described.GetWorkflowExecutionInfo().GetExecution()
	var tasks []int64
	history := s.temporal.GetWorkflowHistory(ctx, id, execution.GetRunId(), false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e, err := history.Next()
		if err != nil {
			return nil, fmt.Errorf("reading the history of %s: %w", id, err)
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks = append(tasks, e.GetEventId())
		}
	}
	if len(tasks) == 0 {
		return nil, errNothing
	}
	s.handle(id)
	_, err = s.temporal.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:         embedded.DefaultNamespace,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: execution.GetRunId()},
		RequestId:         uuid.NewString(), Reason: "chaos", WorkflowTaskFinishEventId: tasks[dice.IntN(len(tasks))],
	})
	if err != nil { // With a child under way, say.
		return nil, fmt.Errorf("%w: %w", errNothing, err)
	}
	return nil, nil
}

package bench

import (
	"encoding/json"
	"fmt"

	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/workflows"
)

// hostedChain is the workflow of a host that calls tools of ours.
const hostedChain = "bench.HostedChain"

type hostedInput struct {
	Principal tool.Principal `json:"principal"`
	Tool      string         `json:"tool"`
	Calls     int            `json:"calls"`
	Planned   bool           `json:"planned"` // Whether the tool is pinned once, for all calls.
}

func registerHosted(w sdkworker.Registry) {
	w.RegisterWorkflowWithOptions(chainOfCalls, workflow.RegisterOptions{Name: hostedChain})
	w.RegisterWorkflowWithOptions(burstOfCalls, workflow.RegisterOptions{Name: hostedBurst})
}

// chainOfCalls gives each answer to the next call and returns the last.
func chainOfCalls(ctx workflow.Context, in hostedInput) (int, error) {
	execute := workflows.Execute
	if in.Planned {
		plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: in.Principal, Tools: []string{in.Tool}})
		if err != nil {
			return 0, err
		}
		execute = plan.Execute
		in.Principal = tool.Principal{} // The plan's.
	}
	at := step{Text: stepText}
	for i := range in.Calls {
		if err := callTool(ctx, execute, in, i, &at); err != nil {
			return 0, err
		}
	}
	return at.Number, nil
}

// callTool gives a tool what the one before answered.
func callTool(
	ctx workflow.Context, execute func(workflow.Context, workflows.Node) (*tool.Result, error), in hostedInput, i int,
	at *step,
) error {
	result, err := execute(ctx, workflows.Node{
		ID: fmt.Sprintf("call/%d", i), Tool: in.Tool, Principal: in.Principal, Arguments: *at,
	})
	if err != nil {
		return err
	}
	return json.Unmarshal(result.Structured, at)
}

// hostedBurst is the workflow of a host that has much to do at once.
const hostedBurst = "bench.HostedBurst"

// burstOfCalls makes all its calls at once and returns how many were answered.
func burstOfCalls(ctx workflow.Context, in hostedInput) (int, error) {
	answered, failed := 0, error(nil)
	wg := workflow.NewWaitGroup(ctx)
	for i := range in.Calls {
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			at := step{Text: stepText}
			if err := callTool(ctx, workflows.Execute, in, i, &at); err != nil {
				failed = err
				return
			}
			answered += at.Number
		})
	}
	wg.Wait(ctx)
	return answered, failed
}

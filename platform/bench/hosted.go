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
	Planned   bool           `json:"planned"`  // Whether the tool is pinned once, for all calls.
	Sequence  bool           `json:"sequence"` // Whether all calls are asked for at once.
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
		if in.Sequence {
			return sequenceOfCalls(ctx, plan, in)
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

// sequenceOfCalls gives each call its number and returns what the last one answered.
func sequenceOfCalls(ctx workflow.Context, plan *workflows.Plan, in hostedInput) (int, error) {
	nodes := make([]workflows.Node, in.Calls)
	for i := range nodes {
		nodes[i] = workflows.Node{
			ID: fmt.Sprintf("call/%d", i), Tool: in.Tool, Arguments: step{Number: i, Text: stepText},
		}
	}
	results, err := plan.Sequence(ctx, nodes...)
	if err != nil {
		return 0, err
	}
	var at step
	for i, result := range results {
		if err := json.Unmarshal(result.Structured, &at); err != nil {
			return 0, err
		}
		if at.Number != i+1 {
			return 0, fmt.Errorf("call %d answered %d", i, at.Number)
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

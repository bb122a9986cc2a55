// Package workflowstest has the host workflows of Toolcrib's tests: what a team
// writes around its calls. Their histories are recorded, so they change as
// little as Toolcrib's own workflows.
package workflowstest

import (
	"encoding/json"
	"strconv"

	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/workflows"
)

// ChainWorkflow is the name of [Chain].
const ChainWorkflow = "test.Chain"

// ChainInput says what [Chain] calls.
type ChainInput struct {
	Principal tool.Principal
	Tool      string // A slug.
	Calls     int
	Arguments json.RawMessage
}

// Register registers the host workflows.
func Register(r sdkworker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(Chain, workflow.RegisterOptions{Name: ChainWorkflow})
	r.RegisterWorkflowWithOptions(Several, workflow.RegisterOptions{Name: SeveralWorkflow})
}

// Chain pins a tool and calls it several times in a row. It returns the tool's
// answers.
func Chain(ctx workflow.Context, in ChainInput) ([]json.RawMessage, error) {
	plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: in.Principal, Tools: []string{in.Tool}})
	if err != nil {
		return nil, err
	}
	answers := make([]json.RawMessage, in.Calls)
	for i := range in.Calls {
		result, err := plan.Execute(ctx, workflows.Node{
			ID: "call/" + strconv.Itoa(i), Tool: in.Tool, Arguments: in.Arguments,
		})
		if err != nil {
			return nil, err
		}
		answers[i] = result.Structured
	}
	return answers, nil
}

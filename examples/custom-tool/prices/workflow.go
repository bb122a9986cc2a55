package prices

import (
	"encoding/json"

	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/workflows"
)

// Workflow is the name of the example's workflow.
const Workflow = "prices.Ask"

// Question is what somebody wants to know the price of.
type Question struct {
	Principal tool.Principal `json:"principal"` // Who the tool is called for.
	SKU       string         `json:"sku"`
}

// Register registers the workflow with a worker.
func Register(r sdkworker.Registry) {
	r.RegisterWorkflowWithOptions(Ask, workflow.RegisterOptions{Name: Workflow})
}

// Ask calls the tool findPrice and returns its answer as text.
func Ask(ctx workflow.Context, q Question) (string, error) {
	result, err := workflows.Execute(ctx, workflows.Node{
		ID: "price", Tool: "findPrice@^1.0", Principal: q.Principal, Arguments: map[string]string{"sku": q.SKU},
	})
	if err != nil {
		return "", err
	}
	if result.IsError {
		return result.Content[0].Text, nil
	}
	var price struct {
		Cents json.Number `json:"cents"`
	}
	if err := json.Unmarshal(result.Structured, &price); err != nil {
		return "", workflows.Failure(&tool.Error{
			Kind: tool.InternalError, Op: Workflow, Msg: "the tool's answer is not what was expected", Err: err,
		})
	}
	return q.SKU + " costs " + price.Cents.String() + " cents", nil
}

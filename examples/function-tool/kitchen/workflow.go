package kitchen

import (
	"encoding/json"
	"fmt"

	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/workflows"
)

// Workflow is the name of the kitchen's workflow.
const Workflow = "kitchen.Shop"

// Order is a recipe that somebody wants to shop for, in a unit of theirs.
type Order struct {
	Principal tool.Principal `json:"principal"` // Who the tools are called for.
	Recipe    Recipe         `json:"recipe"`
	Unit      string         `json:"unit"`
}

// Register registers the workflow with a worker.
func Register(r sdkworker.Registry) {
	r.RegisterWorkflowWithOptions(Shop, workflow.RegisterOptions{Name: Workflow})
}

// Shop scales a recipe and returns how much of each ingredient to buy. It pins
// both tools once, and makes a call for each ingredient.
func Shop(ctx workflow.Context, o Order) ([]string, error) {
	plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{
		Principal: o.Principal, Tools: []string{"scaleRecipe@^1.0", "convertWeight@^1.0"},
	})
	if err != nil {
		return nil, err
	}
	scaled, err := plan.Execute(ctx, workflows.Node{ID: "scale", Tool: "scaleRecipe", Arguments: o.Recipe})
	if err != nil {
		return nil, err
	}
	var ingredients []Ingredient
	if err := answer(scaled, &ingredients); err != nil {
		return nil, err
	}
	var list []string
	for i, one := range ingredients {
		result, err := plan.Execute(ctx, workflows.Node{
			ID: fmt.Sprintf("convert/%d", i), Tool: "convertWeight",
			Arguments: ConvertInput{Value: one.Grams, From: "g", To: o.Unit},
		})
		if err != nil {
			return nil, err
		}
		var weight Converted
		if err := answer(result, &weight); err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprintf("%.2f %s %s", weight.Value, weight.Unit, one.Name))
	}
	return list, nil
}

// answer reads what a tool answered. An answer "no" ends the workflow, with
// what the tool said.
func answer(r *tool.Result, into any) error {
	if r.IsError {
		return &tool.Error{Kind: tool.Invalid, Op: Workflow, Msg: r.Content[0].Text}
	}
	if err := json.Unmarshal(r.Structured, into); err != nil {
		return &tool.Error{
			Kind: tool.InternalError, Op: Workflow, Msg: "the tool's answer is not what was expected", Err: err,
		}
	}
	return nil
}

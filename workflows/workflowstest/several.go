package workflowstest

import (
	"encoding/json"
	"slices"
	"strconv"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/workflows"
)

// SeveralWorkflow is the name of [Several].
const SeveralWorkflow = "test.Several"

// SeveralInput says what [Several] calls.
type SeveralInput struct {
	Principal tool.Principal
	Tools     []string // Slugs, one for each call.
	Arguments json.RawMessage
	All       bool // Whether every call is made, pure ones side by side.
}

// SeveralOutput is how the calls ended.
type SeveralOutput struct {
	Answers []json.RawMessage
	Kinds   []tool.Kind // Of All: why a call got no answer.
}

// Several pins tools and calls them by [workflows.Plan.Sequence] or [workflows.Plan.All].
func Several(ctx workflow.Context, in SeveralInput) (SeveralOutput, error) {
	var out SeveralOutput
	var names []string
	nodes := make([]workflows.Node, len(in.Tools))
	for i, name := range in.Tools {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		nodes[i] = workflows.Node{ID: "call/" + strconv.Itoa(i), Tool: name, Arguments: in.Arguments}
	}
	plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: in.Principal, Tools: names})
	if err != nil {
		return out, err
	}
	if !in.All {
		results, err := plan.Sequence(ctx, nodes...)
		for _, r := range results {
			out.Answers = append(out.Answers, r.Structured)
		}
		return out, err
	}
	answers, err := plan.All(ctx, nodes...)
	if ctx.Err() != nil {
		return out, err
	}
	for _, a := range answers {
		var kind tool.Kind
		if a.Err != nil {
			kind = tool.KindOf(a.Err)
		} else {
			out.Answers = append(out.Answers, a.Result.Structured)
		}
		out.Kinds = append(out.Kinds, kind)
	}
	return out, nil
}

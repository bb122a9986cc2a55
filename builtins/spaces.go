package builtins

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// Spaces is what the built-ins of spaces read and write. Package store implements it.
type Spaces interface {
	space.Visits
	FindRun(ctx context.Context, tenant tool.TenantID, id string) (agent.Run, error)
	ListSpaceMembers(ctx context.Context, tenant tool.TenantID, spaceID string) ([]space.Membership, error)
	PostMessage(ctx context.Context, p space.Post) (space.Posted, error)
	ListSpaceMessages(ctx context.Context, q space.MessageQuery) ([]space.Message, error)
}

// spaceTools are the built-ins of agents that work in spaces (reference number S1-28). Such agents
// always have them, no definition names them, and their calls are never shown.
func spaceTools(s Spaces) []Builtin {
	return []Builtin{
		enterSpace(s), leaveSpace(s), sendMessage(s), readMessages(s), skip(),
		setNotes(s, goals), deleteNotes(s, goals), setNotes(s, memories), deleteNotes(s, memories),
		setNotes(s, plans), deleteNotes(s, plans), getPlans(s),
	}
}

// noInput is the input schema of tools without arguments.
const noInput = `{"type": "object", "additionalProperties": false, "properties": {}}`

// spaceTool returns a built-in of agents' runs. Run is not called for another caller.
func spaceTool(
	key, name, description, input, output string, pure bool,
	run func(ctx context.Context, call *tool.Call) (*tool.Result, error),
) Builtin {
	hidden := false
	return Builtin{
		Spec: Spec{
			Key: key, Version: "1.1.0",
			Definition: tool.Definition{
				Name: name, Description: description, Category: "spaces", InputSchema: json.RawMessage(input),
				OutputSchema: json.RawMessage(output), Implementation: tool.Internal,
				Execution: tool.Execution{
					Pure: pure, Idempotent: !pure, MaxConcurrency: 1, ConcurrencyGroup: "spaces", TimeoutSeconds: 10,
				},
				Interaction: tool.Interaction{Visible: &hidden, Visibility: tool.VisibilityInternal},
			},
			Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			if call.RunID == "" || call.AgentID == "" {
				return tool.ErrorResult(key + " is for runs of agents that work in spaces"), nil
			}
			return run(ctx, call)
		},
	}
}

// answers returns v as the answer of a tool.
func answers(v any) (*tool.Result, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding the answer: %w", err)
	}
	return tool.JSONResult(raw), nil
}

// refused returns what a store refuses as an answer that the model can act on, and other errors as
// they are.
func refused(err error) (*tool.Result, error) {
	switch e := tool.AsError(err); e.Kind {
	case tool.NotFound, tool.Conflict, tool.Denied, tool.Invalid:
		return tool.ErrorResult(e.Msg), nil
	case tool.RateLimited, tool.Unavailable, tool.Timeout, tool.Unknown, tool.Cancelled, tool.InternalError:
	}
	return nil, err
}

// notInSpace is the answer to a call that needs a space.
func notInSpace() *tool.Result {
	return tool.ErrorResult("You are not in a space. Call enter_space first.")
}

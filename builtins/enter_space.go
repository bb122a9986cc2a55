package builtins

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

const enterSpaceSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["space"],
  "properties": {
    "space": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The slug of the space, such as launch."}
  }
}`

const enterSpaceOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["space", "name", "members", "messages"],
  "properties": {
    "space": {"type": "string", "description": "Its slug."},
    "name": {"type": "string"},
    "description": {"type": "string"},
    "members": {"type": "array", "items": {"type": "string"}},
    "messages": ` + messagesSchema + `
  }
}`

const leaveSpaceOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["left"],
  "properties": {"left": {"type": "string", "description": "The slug of the space."}}
}`

// historyOnEntry is how many messages an agent is shown that enters a space.
const historyOnEntry = 20

type spaceView struct {
	Space       string        `json:"space"`
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Members     []string      `json:"members"`
	Messages    []messageView `json:"messages"` // Oldest first.
}

// enterSpace sets the space that a run is in, and loads its history.
func enterSpace(s Spaces) Builtin {
	b := spaceTool("enter_space", "Enter space",
		"Enters a space, and returns its members and last messages. Use it before you read or send messages. What you "+
			"send, and your calls of visible tools, appear in the space that you are in. You are in one space at a time, "+
			"so that entering another leaves the first; do not enter the one that you are in.",
		enterSpaceSchema, enterSpaceOutputSchema, false,
		func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in struct {
				Space string `json:"space"`
			}
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			tenant := call.Principal.Tenant
			run, err := s.FindRun(ctx, tenant, call.RunID)
			if err != nil {
				return nil, fmt.Errorf("finding the run: %w", err)
			}
			if run.Plan == nil || !run.Plan.MayEnter(in.Space) {
				return noSuchSpace(in.Space), nil
			}
			entered, err := s.EnterSpace(ctx, tenant, call.RunID, call.AgentID, in.Space)
			if tool.KindOf(err) == tool.NotFound {
				return noSuchSpace(in.Space), nil
			}
			if err != nil {
				return refused(err)
			}
			members, err := s.ListSpaceMembers(ctx, tenant, entered.ID)
			if err != nil {
				return nil, fmt.Errorf("listing the members: %w", err)
			}
			messages, err := s.ListSpaceMessages(ctx, space.MessageQuery{
				Tenant: tenant, SpaceID: entered.ID, Limit: historyOnEntry,
			})
			if err != nil {
				return nil, fmt.Errorf("reading the messages: %w", err)
			}
			view := spaceView{
				Space: entered.Slug, Name: entered.Name, Description: entered.Description, Members: make([]string, len(members)),
				Messages: viewMessages(messages, 0),
			}
			for i, m := range members {
				view.Members[i] = m.String()
			}
			return answers(view)
		})
	b.Untrusted = true // Others wrote the messages.
	return b
}

func noSuchSpace(name string) *tool.Result {
	return tool.ErrorResult(fmt.Sprintf(
		"there is no space %q that you are a member of and may enter", tool.Clip(name, 64)))
}

// leaveSpace ends what enterSpace began.
func leaveSpace(s Spaces) Builtin {
	return spaceTool("leave_space", "Leave space",
		"Leaves the space that you are in. Use it when your further work should not be seen there; it is not needed "+
			"before you enter another space, nor at the end of your work.",
		noInput, leaveSpaceOutputSchema, false,
		func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			left, err := s.LeaveSpace(ctx, call.Principal.Tenant, call.RunID)
			if err != nil {
				return refused(err)
			}
			if left == nil {
				return tool.ErrorResult("You are not in a space."), nil
			}
			return answers(map[string]string{"left": left.Slug})
		})
}

package agent

import "slices"

// AllSpaces in [Definition.Spaces] is every space that the agent is a member of.
const AllSpaces = "*"

// The built-ins of agents that work in spaces (checklist S1-28), by key.
const (
	EnterSpaceTool   = "enter_space"
	LeaveSpaceTool   = "leave_space"
	SendMessageTool  = "send_message"
	ReadMessagesTool = "read_messages"
	// SkipTool ends the run without an answer. A turn with no other call is the last.
	SkipTool           = "skip"
	SetGoalsTool       = "set_goals"
	DeleteGoalsTool    = "delete_goals"
	SetMemoriesTool    = "set_memories"
	DeleteMemoriesTool = "delete_memories"
	SetPlansTool       = "set_plans"
	DeletePlansTool    = "delete_plans"
	GetPlansTool       = "get_plans"
)

// SpaceTools lists the keys of the built-ins that agents with spaces always have, and that no
// definition names.
func SpaceTools() []string {
	return []string{
		EnterSpaceTool, LeaveSpaceTool, SendMessageTool, ReadMessagesTool, SkipTool, SetGoalsTool, DeleteGoalsTool,
		SetMemoriesTool, DeleteMemoriesTool, SetPlansTool, DeletePlansTool, GetPlansTool,
	}
}

// InSpaces reports whether the agent works in spaces: it has the built-ins of them, and must enter a
// space before it calls a visible tool.
func (d *Definition) InSpaces() bool { return len(d.Spaces) > 0 }

// MayEnter reports whether the plan allows to enter a space that the agent is a member of.
func (p *Plan) MayEnter(slug string) bool {
	return slices.Contains(p.Spaces, AllSpaces) || slices.Contains(p.Spaces, slug)
}

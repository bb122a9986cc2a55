package agent

// UserFacing in [Definition.ToolGroups] is the group of the tenant's own tools that models may call. Every other
// group is the category of global tools, such as "web". An agent with any group has the user-facing tools too.
// (Checklist S0-111.)
const UserFacing = "user_facing"

// MaxGrouped bounds the tools that a run gets from groups.
const MaxGrouped = 128

package mcpserver

import "github.com/toolcrib/toolcrib/tool"

// ToolChange is what a refresh found of a tool.
type ToolChange string

// Changes.
const (
	ChangeNew     ToolChange = "new"     // Imported, as a draft.
	ChangeOffered ToolChange = "offered" // Seen for the first time, and not allowed.
	ChangeChanged ToolChange = "changed" // Its definition is another one: the tool is stopped.
	ChangeGone    ToolChange = "gone"    // The server offers it no more: the tool is stopped.
	ChangeBack    ToolChange = "back"    // What may run is offered again: the tool goes on.
	ChangeRefused ToolChange = "refused" // It cannot be imported, or is no longer allowed.
	ChangeMissing ToolChange = "missing" // Allowed, and never offered.
)

// ToolReport is a tool that a refresh reports.
type ToolReport struct {
	Name   string
	Slug   string // Of the tenant's tool; empty when none was made.
	Change ToolChange
	Reason string
}

// Report is the difference between what a server offers now and what it
// offered before.
type Report struct {
	Tools     []ToolReport // In the order of names.
	Unchanged int          // How many imported tools are as they were.
	Err       *tool.Error  // Why the server could not be asked; nothing was changed then.
}

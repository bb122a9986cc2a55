package mcpserver

import "github.com/toolcrib/toolcrib/tool"

// ToolChange is the change of a tool that a refresh found.
type ToolChange string

// Changes.
const (
	ChangeNew     ToolChange = "new"     // Imported, as a draft.
	ChangeOffered ToolChange = "offered" // Seen for the first time, and not allowed.
	ChangeChanged ToolChange = "changed" // Its definition changed: the tool is quarantined.
	ChangeGone    ToolChange = "gone"    // No longer offered: the tool is quarantined.
	ChangeBack    ToolChange = "back"    // The pinned definition is offered again: the quarantine ends.
	ChangeRefused ToolChange = "refused" // It cannot be imported, or is no longer allowed.
	ChangeMissing ToolChange = "missing" // Allowed, but not offered.
)

// ToolReport is the change of one tool.
type ToolReport struct {
	Name   string
	Slug   string // Of the imported tool; empty when not imported.
	Change ToolChange
	Reason string
}

// Report is the result of a refresh: how the tools of a server changed since the
// last one.
type Report struct {
	Tools     []ToolReport // In the order of names.
	Unchanged int          // Number of imported tools without a change.
	Err       *tool.Error  // Why the server could not be asked; no tool was changed then.
}

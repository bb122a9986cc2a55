package v1

import "github.com/toolcrib/toolcrib/tool"

// BulkAction is what is done to many tools at once.
type BulkAction string

// Bulk actions.
const (
	BulkPublish BulkAction = "publish"
	BulkDisable BulkAction = "disable"
	BulkEnable  BulkAction = "enable"
	BulkDelete  BulkAction = "delete"
)

// BulkActions lists every bulk action.
func BulkActions() []BulkAction {
	return []BulkAction{BulkPublish, BulkDisable, BulkEnable, BulkDelete}
}

// BulkTools requests the same change of many tools. A tool must match all of
// Tools, Tag and Source that are set.
type BulkTools struct {
	Action BulkAction  `json:"action" enum:"publish,disable,enable,delete" example:"publish"`
	Tools  []string    `json:"tools,omitempty" maxItems:"2000" doc:"Slugs or ids" example:"[\"listOrders\",\"getOrder\"]"`
	Tag    string      `json:"tag,omitempty" maxLength:"200" doc:"Tools of this category, or imported from operations with this tag" example:"orders"`
	Source string      `json:"source,omitempty" maxLength:"200" doc:"Tools that were imported from this document, by its import name" example:"Orders"`
	Status tool.Status `json:"status,omitempty" enum:"draft,published,deprecated,disabled" doc:"Of these, only tools with this status" example:"draft"`
	DryRun bool        `json:"dry_run,omitempty" doc:"Report which tools are selected, and change nothing"`
}

// BulkResult reports the outcome for each tool. A tool that failed does not
// undo the changes of the others.
type BulkResult struct {
	Action BulkAction `json:"action" enum:"publish,disable,enable,delete"`
	DryRun bool       `json:"dry_run"`
	Counts BulkCounts `json:"counts"`
	Items  []BulkItem `json:"items"`
}

// BulkCounts counts the outcomes of tools.
type BulkCounts struct {
	Changed   int `json:"changed" doc:"With dry_run, those that would be changed"`
	Unchanged int `json:"unchanged" doc:"Already in the requested state"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped" doc:"Not processed, because the database did not respond"`
}

// BulkItem reports the outcome for one tool.
type BulkItem struct {
	Tool    string      `json:"tool" doc:"Slug, or the requested name" example:"listOrders"`
	ToolID  string      `json:"tool_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Version string      `json:"version,omitempty" doc:"The published version" example:"1.0.0"`
	Status  tool.Status `json:"status,omitempty" enum:"draft,published,deprecated,disabled" doc:"The current status; absent if the tool was deleted or not found"`
	Outcome string      `json:"outcome" enum:"changed,unchanged,failed,skipped"`
	Error   *Problem    `json:"error,omitempty"`
}

// Outcomes of a tool in a bulk change.
const (
	BulkChanged   = "changed"
	BulkUnchanged = "unchanged"
	BulkFailed    = "failed"
	BulkSkipped   = "skipped"
)

package v1

import "encoding/json"

// ImportTools requests the import of tools of another system.
type ImportTools struct {
	Definitions []json.RawMessage `json:"definitions" nullable:"false" minItems:"1" maxItems:"1000" doc:"Definitions of tools, or rows of another system's table of tools" example:"[{\"slug\":\"searchOrders\",\"is_active\":true,\"config_schema\":{\"implementation\":{\"url\":\"https://orders.example.com\"}}}]"`
	DryRun      bool              `json:"dry_run,omitempty" doc:"Check, and report what would be imported"`
}

// RenameTool gives a tool another slug.
type RenameTool struct {
	Slug       string `json:"slug" doc:"The new slug: a letter, then letters, digits, _ or -, at most 64" example:"searchOrders"`
	KeepUntil  string `json:"keep_until,omitempty" format:"date" doc:"The last day, in UTC, on which the former slug still resolves to the tool; 90 days from now when absent" example:"2027-06-30"`
	DropFormer bool   `json:"drop_former,omitempty" doc:"Removes the former slug at once; with the tool's current slug, removes all its former names"`
}

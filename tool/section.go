package tool

import "encoding/json"

// SectionType is the presentation of a part of a result.
type SectionType string

// Types of sections.
const (
	SectionSummary SectionType = "summary" // A few values, each under its name.
	SectionTable   SectionType = "table"   // Rows with the same columns.
	SectionChart   SectionType = "chart"
	SectionRadar   SectionType = "radar"   // Values on axes around a point.
	SectionRanking SectionType = "ranking" // An ordered list.
	SectionCustom  SectionType = "custom"  // A section that a client has its own view for.
)

// SectionTypes returns all types of sections, in the order in which they are documented.
func SectionTypes() []SectionType {
	return []SectionType{SectionSummary, SectionTable, SectionChart, SectionRadar, SectionRanking, SectionCustom}
}

// OutputSection configures how a client shows one part of a tool's result.
type OutputSection struct {
	Key    string          `json:"key"`             // The part: a property of the structured result.
	Label  string          `json:"label,omitempty"` // Its heading; the key when empty.
	Type   SectionType     `json:"type"`
	Config json.RawMessage `json:"config,omitempty"` // A JSON object that the client reads, such as which columns to show.
}

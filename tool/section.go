package tool

import "encoding/json"

// SectionType is the presentation of a part of a result.
type SectionType string

// Types of sections.
const (
	SummarySection SectionType = "summary" // A few values, each under its name.
	TableSection   SectionType = "table"   // Rows with the same columns.
	ChartSection   SectionType = "chart"
	RadarSection   SectionType = "radar"   // Values on axes around a point.
	RankingSection SectionType = "ranking" // An ordered list.
	CustomSection  SectionType = "custom"  // A section that a client has its own view for.
)

// SectionTypes returns all types of sections, in the order in which they are documented.
func SectionTypes() []SectionType {
	return []SectionType{SummarySection, TableSection, ChartSection, RadarSection, RankingSection, CustomSection}
}

// OutputSection configures how a client shows one part of a tool's result.
type OutputSection struct {
	Key    string          `json:"key"`             // The part: a property of the structured result.
	Label  string          `json:"label,omitempty"` // Its heading; the key when empty.
	Type   SectionType     `json:"type"`
	Config json.RawMessage `json:"config,omitempty"` // A JSON object that the client reads, such as which columns to show.
}

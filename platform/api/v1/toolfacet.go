package v1

import "github.com/toolcrib/toolcrib/tool"

// Taxonomy is what tools are grouped and filtered by.
type Taxonomy struct {
	tool.Terms
	Runnable []string `json:"implementation_types" doc:"Those that this server runs" example:"[\"http\",\"mcp\"]"`
}

// ToolFacets counts tools by what they are filtered by.
type ToolFacets struct {
	Total         int     `json:"total" example:"64"`
	Complete      bool    `json:"complete" doc:"Whether all tools are counted; otherwise there are more than the numbers say"`
	Buckets       []Facet `json:"buckets"`
	Subtypes      []Facet `json:"subtypes"`
	Statuses      []Facet `json:"statuses"`
	EgressClasses []Facet `json:"egress_classes"`
	Risks         []Facet `json:"risks"`
	Categories    []Facet `json:"categories" doc:"The two hundred largest"`
}

// Facet is how many tools have a value.
type Facet struct {
	Name  string `json:"name" example:"custom"`
	Tools int    `json:"tools" example:"52"`
}

package v1

import "github.com/toolcrib/toolcrib/platform/markdown"

// Markdown asks for texts to be parsed.
type Markdown struct {
	Texts []string `json:"texts" minItems:"1" maxItems:"200" doc:"Of each, the first 256 KiB are parsed" example:"[\"Your order has **left**.\"]"`
}

// ParsedMarkdown is what the texts are made of.
type ParsedMarkdown struct {
	Documents [][]markdown.Element `json:"documents" doc:"The blocks of each text, in the order of the texts" example:"[[{\"kind\":\"paragraph\",\"nodes\":[{\"kind\":\"text\",\"text\":\"Your order has left.\"}]}]]"`
}

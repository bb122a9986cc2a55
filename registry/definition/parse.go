package definition

import (
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
)

// Parse reads the JSON of a tool, an agent, an MCP server, an artifact, a pipeline, a profile or
// a toolset, distinguished by its "kind"; without one it is a tool. Field names may
// be in snake_case or camelCase, and some have synonyms: "input" and "parameters"
// for input_schema, "timeout" in milliseconds, "executionType", a nested "schema"
// or "config_schema". An unknown field fails with tool.Invalid and a suggestion.
func Parse(raw []byte) (Definition, error) {
	doc, err := readObject("", raw)
	if err != nil {
		return Definition{}, err
	}
	var kind string
	if err := take(doc, "kind", &kind); err != nil {
		return Definition{}, err
	}
	switch kind {
	case "", "tool":
		s, err := parseTool(doc)
		return Definition{Tool: s}, err
	case "agent":
		s, err := parseAgent(doc)
		return Definition{Agent: s}, err
	case "mcp_server":
		s, err := parseServer("", doc)
		return Definition{Server: s}, err
	case "artifact":
		s, err := parseArtifact(doc)
		return Definition{Artifact: s}, err
	case "pipeline":
		s, err := parsePipeline(doc)
		return Definition{Pipeline: s}, err
	case "profile":
		s, err := parseProfile(doc)
		return Definition{Profile: s}, err
	case "toolset":
		s, err := parseToolset(doc)
		return Definition{Toolset: s}, err
	default:
		return Definition{}, refuseKinds(kind)
	}
}

func parseAgent(doc object) (*AgentSpec, error) {
	for _, alias := range []string{"system_prompt", "prompt"} {
		if err := doc.move(alias, doc, "instructions"); err != nil {
			return nil, err
		}
	}
	if doc["slug"] == nil && doc["name"] != nil {
		doc["slug"] = doc["name"]
	}
	doc.drop(rowFields...)
	var s AgentSpec
	if err := refusal.First(doc.nested("limits"), parseSkills(doc)); err != nil {
		return nil, err
	}
	return &s, doc.into("", &s)
}

package definition

import (
	"fmt"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// maxLooseNamed bounds how many loose places are listed as warnings.
const maxLooseNamed = 5

// looseInput returns the places of the input schema that accept more than they
// declare. A provider tool has none, since clients do not see its schema.
func looseInput(d *tool.Definition) []schema.Loose {
	if d.ImplementationType() == tool.Provider {
		return nil
	}
	var out []schema.Loose
	for _, l := range schema.LoosePlaces(d.InputSchema) {
		if !d.Interaction.OpenInput || l.Hidden && l.Path != "" { // A hidden union is reported even when declared.
			out = append(out, l)
		}
	}
	return out
}

// CheckOpenInput fails with tool.Invalid for an input schema that not every MCP
// client can show, unless the definition declares "open_input". The schemas of
// tools of MCP servers are exempt, since their tenant does not write them; a
// tool without an input schema gets a warning only, see [ToolSpec.Warnings].
func CheckOpenInput(d *tool.Definition) error {
	if len(d.InputSchema) == 0 || d.Interaction.OpenInput || d.ImplementationType() == tool.MCP {
		return nil
	}
	places := looseInput(d)
	if len(places) == 0 {
		return nil
	}
	more := ""
	if n := len(places) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return refusal.New(tool.Invalid, "/input_schema"+places[0].Path,
		"not every client can show this input schema: %s%s. To publish it as it is, declare \"open_input\": true",
		placed(places[0]), more)
}

// looseWarnings lists the places for which [CheckOpenInput] fails, or would fail
// without "open_input".
func looseWarnings(d *tool.Definition) []string {
	var out []string
	for i, l := range looseInput(d) {
		if i == maxLooseNamed {
			return append(out, fmt.Sprintf("%d more places of the input schema are as open", len(looseInput(d))-i))
		}
		out = append(out, placed(l))
	}
	return out
}

// placed prefixes the message about a loose place with its path.
func placed(l schema.Loose) string { return "/input_schema" + l.Path + ": " + l.Msg }

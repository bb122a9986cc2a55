package registry

import (
	"fmt"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// maxLooseTold bounds how many loose places one answer names.
const maxLooseTold = 5

// looseInput returns where the input schema of a definition is loose and should
// not be. Clients do not see that of a provider's own tool.
func looseInput(d *tool.Definition) []schema.Loose {
	if d.ImplementationType() == tool.Provider {
		return nil
	}
	var out []schema.Loose
	for _, l := range schema.LoosePlaces(d.InputSchema) {
		if !d.Interaction.OpenInput || l.Hidden && l.Path != "" { // A union at the top is worth a word, declared or not.
			out = append(out, l)
		}
	}
	return out
}

// refuseLoose refuses to publish an input schema that MCP clients cannot show,
// unless the definition declares it. The schemas of others' tools, and those
// that derive from a host's types, are what they are; a tool without any schema
// is warned of only.
func refuseLoose(d *tool.Definition, by string) error {
	if len(d.InputSchema) == 0 || d.Interaction.OpenInput || d.ImplementationType() == tool.MCP || by == codeSubject {
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
	return refuse(tool.Invalid, "/input_schema"+places[0].Path,
		"not every client can show this input schema: %s%s. To publish it as it is, declare \"open_input\": true",
		placed(places[0]), more)
}

// looseWarnings lists what [refuseLoose] will refuse, and what it accepts only
// because the definition declares it.
func looseWarnings(d *tool.Definition) []string {
	var out []string
	for i, l := range looseInput(d) {
		if i == maxLooseTold {
			return append(out, fmt.Sprintf("%d more places of the input schema are as open", len(looseInput(d))-i))
		}
		out = append(out, placed(l))
	}
	return out
}

// placed says what is loose, and where.
func placed(l schema.Loose) string { return "/input_schema" + l.Path + ": " + l.Msg }

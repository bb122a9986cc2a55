package mcpserver

import (
	"fmt"
	"strings"
)

// offer is a tool that a server offers, or the fault that makes it unusable.
type offer struct {
	name       string
	definition *ToolDefinition
	fault      string
}

// distinct lists the offers of a server by name. A name listed twice is a fault.
func distinct(d *Discovery) []offer {
	var out []offer
	at := make(map[string]int)
	add := func(o offer) {
		if i, twice := at[o.name]; twice {
			out[i].definition, out[i].fault = nil, "the server lists it twice"
			return
		}
		at[o.name] = len(out)
		out = append(out, o)
	}
	for i := range d.Tools {
		add(offer{name: d.Tools[i].Name, definition: &d.Tools[i]})
	}
	for _, s := range d.Skipped {
		if s.Name != "" {
			add(offer{name: s.Name, fault: s.Reason})
		}
	}
	return out
}

// removalWarning lists the places of a definition from which invisible characters
// were removed; empty for none.
func removalWarning(d *ToolDefinition) string {
	if d == nil || len(d.Removed) == 0 {
		return ""
	}
	places := d.Removed
	more := ""
	if len(places) > maxNamedPlaces {
		more = fmt.Sprintf(" and %d more", len(places)-maxNamedPlaces)
		places = places[:maxNamedPlaces]
	}
	return "characters that readers do not see were removed from " + strings.Join(places, ", ") + more
}

// maxNamedPlaces bounds how many places a warning names.
const maxNamedPlaces = 5

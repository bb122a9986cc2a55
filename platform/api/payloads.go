package api

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// describePayloads describes the member data of events by their types, which
// package agent lists.
func describePayloads(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas
	event := schemas.Map()[schemaName(reflect.TypeFor[tool.Event](), "")]
	if event == nil {
		return
	}
	payloads := agent.EventPayloads()
	var lines []string
	data := &huma.Schema{}
	listed := map[string]bool{}
	for _, of := range slices.Sorted(maps.Keys(payloads)) {
		t := reflect.TypeOf(payloads[of])
		ref := schemas.Schema(t, true, "")
		lines = append(lines, fmt.Sprintf("%s: %s", of, ref.Ref[strings.LastIndex(ref.Ref, "/")+1:]))
		if !listed[ref.Ref] {
			listed[ref.Ref] = true
			data.AnyOf = append(data.AnyOf, ref)
		}
	}
	data.Description = "By the event's type. " + strings.Join(lines, "; ")
	event.Properties["data"] = data
}

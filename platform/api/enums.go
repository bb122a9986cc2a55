package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/tool"
)

// typeField is the name of members and parameters that hold an implementation
// type.
const typeField = "implementation_type"

// listTypes makes every member and parameter that holds an implementation type
// an enumeration of the known types, in the description as in validation. If
// none is known, any is allowed.
func listTypes(doc *huma.OpenAPI, types []tool.Implementation) {
	if len(types) == 0 {
		return
	}
	values := make([]any, len(types))
	for i, t := range types {
		values[i] = string(t)
	}
	enumerate := func(s *huma.Schema) {
		if s != nil && s.Type == huma.TypeString && s.Enum == nil {
			s.Enum = values
			s.PrecomputeMessages()
		}
	}
	for _, s := range doc.Components.Schemas.Map() {
		enumerate(s.Properties[typeField])
	}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Put, path.Patch, path.Delete} {
			if op == nil {
				continue
			}
			for _, p := range op.Parameters {
				if p.Name == typeField {
					enumerate(p.Schema)
				}
			}
		}
	}
}

// listActions makes the action of a row of the audit log an enumeration, in the description.
func listActions(doc *huma.OpenAPI) {
	entry := doc.Components.Schemas.Map()["AuditEntry"]
	if entry == nil {
		return
	}
	actions := audit.Actions()
	values := make([]any, len(actions))
	for i, a := range actions {
		values[i] = string(a.Action)
	}
	entry.Properties["action"].Enum = values
	entry.Properties["action"].PrecomputeMessages()
}

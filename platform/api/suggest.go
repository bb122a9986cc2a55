package api

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/toolcrib/toolcrib/internal/nearest"
)

// suggest describes a fault that the framework found. For an unknown name it adds
// the most similar known name.
func suggest(op *huma.Operation, schemas huma.Registry, e *huma.ErrorDetail) string {
	const unknownParameter = "unknown query parameter" // As the framework words it.
	place, path, _ := strings.Cut(e.Location, ".")
	var known []string
	switch {
	case e.Message == validation.MsgUnexpectedProperty && place == "body":
		path, known = parentMembers(op, schemas, path)
	case e.Message == unknownParameter:
		for _, p := range op.Parameters {
			if p.In == "query" {
				known = append(known, p.Name)
			}
		}
	default:
		return e.Message
	}
	switch meant := nearest.Name(path, known); {
	case meant != "":
		return e.Message + ": did you mean " + meant + "?"
	case len(known) == 0:
		return e.Message + ": none is expected here"
	default:
		return e.Message + ": expected one of " + strings.Join(known, ", ")
	}
}

// parentMembers returns the last name of a path into the body, and the names
// that its object may have.
func parentMembers(op *huma.Operation, schemas huma.Registry, path string) (name string, known []string) {
	names := strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
	name = names[len(names)-1]
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return name, nil
	}
	at := resolved(schemas, op.RequestBody.Content["application/json"].Schema)
	for _, step := range names[:len(names)-1] {
		switch {
		case at == nil:
			return name, nil
		case at.Properties[step] != nil:
			at = resolved(schemas, at.Properties[step])
		default:
			if _, err := strconv.Atoi(step); err != nil {
				return name, nil
			}
			at = resolved(schemas, at.Items)
		}
	}
	if at == nil {
		return name, nil
	}
	return name, slices.Sorted(maps.Keys(at.Properties))
}

// resolved follows a schema's reference.
func resolved(schemas huma.Registry, s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return schemas.SchemaFromRef(s.Ref)
	}
	return s
}

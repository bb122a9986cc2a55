package definition

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// sourceAnnotation is the annotation with the document that a tool was imported
// from. A later import of the document finds the tool by it.
const sourceAnnotation = "source"

// keepSource copies the stored source annotation to a definition that omits it. A
// source of null removes it.
func keepSource(s *ToolSpec, stored tool.Definition) {
	var before, after map[string]json.RawMessage
	if json.Unmarshal(stored.Interaction.Annotations, &before) != nil {
		before = nil // No annotations are stored.
	}
	if len(s.Interaction.Annotations) > 0 && json.Unmarshal(s.Interaction.Annotations, &after) != nil {
		return // A later check reports malformed annotations.
	}
	switch source, has := after[sourceAnnotation]; {
	case has && bytes.Equal(bytes.TrimSpace(source), []byte("null")):
		delete(after, sourceAnnotation)
	case has || before[sourceAnnotation] == nil:
		return
	default:
		if after == nil {
			after = make(map[string]json.RawMessage)
		}
		after[sourceAnnotation] = before[sourceAnnotation]
	}
	s.Interaction.Annotations = nil
	if len(after) > 0 {
		s.Interaction.Annotations, _ = json.Marshal(after) // Its members were decoded from JSON.
	}
}

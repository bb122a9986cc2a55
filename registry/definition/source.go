package definition

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// sourceAnnotation is the annotation that says which document a tool was made
// of; a later import of the document finds the tool by it.
const sourceAnnotation = "source"

// keepSource keeps where a tool comes from when a definition that was written by
// hand says nothing of it. With null for it, the tool is cut off from its
// document.
func keepSource(s *ToolSpec, stored tool.Definition) {
	var before, after map[string]json.RawMessage
	if json.Unmarshal(stored.Interaction.Annotations, &before) != nil {
		before = nil // There are none.
	}
	if len(s.Interaction.Annotations) > 0 && json.Unmarshal(s.Interaction.Annotations, &after) != nil {
		return // It is refused later.
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
		s.Interaction.Annotations, _ = json.Marshal(after) // Members are JSON that was read.
	}
}

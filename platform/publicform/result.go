package publicform

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Output returns what is kept of a result: its structured value, or else its text. Of one that is larger than most
// bytes, its size.
func Output(r *tool.Result, most int) json.RawMessage {
	raw := r.Structured
	if len(raw) == 0 {
		for _, c := range r.Content {
			if len(r.Content) == 1 && len(c.JSON) > 0 {
				raw = c.JSON
			}
		}
	}
	if len(raw) == 0 {
		raw, _ = json.Marshal(Text(r))
	}
	if len(raw) > most {
		raw, _ = json.Marshal(map[string]any{"truncated": true, "bytes": len(raw)})
	}
	return raw
}

// Text returns the texts of a result.
func Text(r *tool.Result) string {
	var parts []string
	for _, c := range r.Content {
		if c.Text != "" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

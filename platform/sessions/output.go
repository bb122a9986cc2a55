package sessions

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

// outputOf returns what is kept of a result: its structured value, or else its text. Of one that is too large, its
// size.
func outputOf(r *tool.Result) json.RawMessage {
	raw := r.Structured
	if len(raw) == 0 {
		for _, c := range r.Content {
			if len(r.Content) == 1 && len(c.JSON) > 0 {
				raw = c.JSON
			}
		}
	}
	if len(raw) == 0 {
		raw, _ = json.Marshal(textOf(r))
	}
	if len(raw) > toolsession.MaxOutput {
		raw, _ = json.Marshal(map[string]any{"truncated": true, "bytes": len(raw)})
	}
	return raw
}

func textOf(r *tool.Result) string {
	var parts []string
	for _, c := range r.Content {
		if c.Text != "" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// maxError is how much is kept of why a call failed.
const maxError = 1000

func clipped(text string) string { return tool.Clip(text, maxError) }

func words(err error) string {
	return clipped(firstOf(tool.AsError(err).Msg, "the call was not begun"))
}

// pointer escapes a name for a JSON Pointer.
func pointer(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

package builtins

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// maxViewed bounds the messages that are shown whole at once, in bytes of JSON: results are
	// bounded, and so are models.
	maxViewed = 256 << 10
	// alwaysViewed is how large a message may be that is shown whole in any case.
	alwaysViewed = 1 << 10
	// maxShortened is what is kept of a text that is not shown whole, in bytes.
	maxShortened = 200
)

// messagesSchema describes messages as agents are shown them.
const messagesSchema = `{
      "type": "array", "description": "Oldest first.",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["seq", "from", "at"],
        "properties": {
          "seq": {"type": "integer", "description": "Its number in the space."},
          "from": {"type": "string"},
          "at": {"type": "string"},
          "text": {"type": "string"},
          "tool": {"type": "string", "description": "Of a visible call: the tool."},
          "status": {"type": "string"},
          "input": {"description": "The arguments of the call."},
          "output": {"description": "The result of the call."},
          "error": {"type": "string"},
          "shortened": {"type": "string", "description": "How to read the rest."}
        }
      }
    }`

// messageView is a message as agents are shown it.
type messageView struct {
	Seq       int64               `json:"seq"`
	From      string              `json:"from"`
	At        time.Time           `json:"at"`
	Text      string              `json:"text,omitempty"`
	Tool      string              `json:"tool,omitempty"`
	Status    space.MessageStatus `json:"status,omitempty"` // Of a tool's.
	Input     any                 `json:"input,omitempty"`
	Output    any                 `json:"output,omitempty"`
	Error     string              `json:"error,omitempty"`
	Shortened string              `json:"shortened,omitempty"` // How to read the rest.
}

// viewMessages returns messages that were read newest first, from an offset on, oldest first. The
// newest is whole, and others as far as there is room.
func viewMessages(newest []space.Message, offset int) []messageView {
	out := make([]messageView, 0, len(newest))
	room := maxViewed
	for i, m := range newest {
		v := viewMessage(m)
		raw, err := json.Marshal(v)
		if size := len(raw); err == nil && (i == 0 || size <= max(room, alwaysViewed)) {
			room -= size
		} else {
			v = v.shortened(offset + i)
		}
		out = append(out, v)
	}
	slices.Reverse(out)
	return out
}

func viewMessage(m space.Message) messageView {
	v := messageView{Seq: m.Seq, From: m.From.String(), At: m.CreatedAt, Text: m.Text}
	if m.Call != nil {
		v.Tool, v.Status, v.Error = m.Call.Tool, m.Status, m.Call.Error
		if len(m.Call.Input) > 0 {
			v.Input = m.Call.Input
		}
		if len(m.Call.Output) > 0 {
			v.Output = m.Call.Output
		}
	}
	return v
}

// shortened returns the view without what is large in it.
func (v messageView) shortened(offset int) messageView {
	v.Text, v.Error = tool.Clip(v.Text, maxShortened), tool.Clip(v.Error, maxShortened)
	v.Input, v.Output = shortenedValue(v.Input), shortenedValue(v.Output)
	v.Shortened = fmt.Sprintf("read_messages with offset %d and limit 1 shows all of it", offset)
	return v
}

// shortenedValue returns the size of a value in its place, as messages have it of values that are too large.
func shortenedValue(v any) any {
	raw, ok := v.(json.RawMessage)
	if !ok {
		return v
	}
	return map[string]any{"truncated": true, "bytes": len(raw)}
}

package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
)

// ReadArguments returns a call's arguments in the form that models' answers
// carry them: the JSON text that the model wrote. Malformed text is returned as
// a JSON string, to be repaired or rejected by callers that know the tool.
// Empty text is an empty object.
func ReadArguments(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // A string always encodes.
	return quoted
}

// WriteArguments returns a call's arguments for a transcript: always an object,
// because providers and model templates accept nothing else. Malformed arguments
// become a text in it.
func WriteArguments(raw json.RawMessage) json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) == nil && compact.Len() > 0 && compact.Bytes()[0] == '{' {
		return compact.Bytes()
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	out, _ := json.Marshal(map[string]string{"malformed_arguments": text})
	return out
}

// CallIDs gives the calls of an answer unique ids: not every server does.
func CallIDs(turn int, calls []agent.Call) {
	seen := make(map[string]bool, len(calls))
	for i := range calls {
		if calls[i].ID == "" || seen[calls[i].ID] {
			calls[i].ID = fmt.Sprintf("call_%d_%d", turn, i)
		}
		seen[calls[i].ID] = true
	}
}

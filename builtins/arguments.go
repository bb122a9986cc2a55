package builtins

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// decodeArguments decodes a call's arguments strictly: they were validated against
// the built-in's schema, so a mismatch is [tool.Invalid].
func decodeArguments(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return &tool.Error{
			Kind: tool.Invalid, Op: "builtins.Execute", Msg: "the arguments do not match the tool's input schema", Err: err,
		}
	}
	return nil
}

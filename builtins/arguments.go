package builtins

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// decodeArguments reads a call's arguments strictly: they were validated
// against the built-in's schema, so what does not fit is [tool.Invalid].
func decodeArguments(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return &tool.Error{
			Kind: tool.Invalid, Op: "builtins.Execute", Msg: "the arguments don't fit the tool's input schema", Err: err,
		}
	}
	return nil
}

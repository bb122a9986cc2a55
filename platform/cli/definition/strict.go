package definition

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Decode decodes a part of a document that has these fields and no other.
func (d Document) Decode(pointer string, raw json.RawMessage, to any, known ...string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return d.Fault(pointer, "expected names and values here")
	}
	for name := range fields {
		if !slices.Contains(known, name) {
			return d.Fault(pointer+"/"+jsonpointer.Escape(name), fmt.Sprintf("unknown field %q%s", name,
				cmp.Or(terminal.DidYouMean(name, known), ": expected one of "+strings.Join(known, ", "))))
		}
	}
	if err := json.Unmarshal(raw, to); err != nil {
		at := pointer
		if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && te.Field != "" {
			at += "/" + te.Field
		}
		return d.Fault(at, "this is not of the type that is expected here")
	}
	return nil
}

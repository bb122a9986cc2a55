package agentspec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// What became of a part of a document or graph.
const (
	Dropped = "dropped" // It is missing in the outcome.
	Changed = "changed" // The outcome says it differently, or does it differently.
	Needed  = "needed"  // The outcome uses something that has to exist, such as a tool.
)

// Loss is something that the outcome of an import or export lacks, changed or needs.
type Loss struct {
	Path   string `json:"path"` // JSON Pointer in the document, or in the configuration of the graph.
	What   string `json:"what"` // [Dropped], [Changed] or [Needed].
	Reason string `json:"reason"`
}

// Fault is something for which a document is refused.
type Fault struct {
	Path    string `json:"path"` // JSON Pointer in the document.
	Message string `json:"message"`
}

// Faults are all faults of a document, in the order in which they were found. They are the cause of the error of
// [Import] and [Export].
type Faults []Fault //nolint:errname // It is what the document has; one is no error.

// Error implements the error interface.
func (f Faults) Error() string {
	text := ""
	var textSb38 strings.Builder
	for i, fault := range f {
		if i > 0 {
			textSb38.WriteString("; ")
		}
		if fault.Path != "" {
			textSb38.WriteString(fault.Path + ": ")
		}
		textSb38.WriteString(fault.Message)
	}
	text += textSb38.String()
	return text
}

// findings collects faults and losses.
type findings struct {
	faults Faults
	losses []Loss
}

func (f *findings) fault(path, format string, args ...any) {
	found := Fault{path, fmt.Sprintf(format, args...)}
	if slices.Contains(f.faults, found) { // A component that is used twice is read twice.
		return
	}
	if len(f.faults) < maxFaults {
		f.faults = append(f.faults, found)
	}
}

func (f *findings) lose(path, what, format string, args ...any) {
	found := Loss{path, what, fmt.Sprintf(format, args...)}
	if slices.Contains(f.losses, found) {
		return
	}
	if len(f.losses) < maxLosses {
		f.losses = append(f.losses, found)
	}
}

// err returns the faults as one error; nil where there are none.
func (f *findings) err(op string) error {
	if len(f.faults) == 0 {
		return nil
	}
	msg := f.faults[0].Message
	if len(f.faults) > 1 {
		msg = fmt.Sprintf("%d faults: %s", len(f.faults), f.faults[:min(len(f.faults), 20)].Error())
	}
	return &tool.Error{Kind: tool.Invalid, Op: op, Path: f.faults[0].Path, Msg: msg, Err: f.faults}
}

// encode writes a value that is made of JSON.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // Values are decoded from JSON, and so can be encoded.
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

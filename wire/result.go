package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxHistoryResult bounds the result that goes through a history, as JSON.
// Temporal refuses 2 MB.
const MaxHistoryResult = 512 << 10

// Fitting returns a call's result as histories and callers get it: whole or, if it is too
// large for a history, its beginning and a reference to the invocation with all of it.
func Fitting(result *tool.Result, invocationID string) *tool.Result {
	raw, err := json.Marshal(result)
	if err == nil && len(raw) <= MaxHistoryResult {
		return result
	}
	return &tool.Result{
		IsError: result.IsError, Mismatch: result.Mismatch,
		Content: []tool.Content{
			tool.Text(Preview(result.Content)),
			{Type: tool.ContentResource, URI: "toolcrib://invocations/" + invocationID, MIMEType: "application/json"},
		},
		Warnings: []string{
			fmt.Sprintf(
				"the result has %d bytes, too many for a workflow's history; see the invocation for all of it",
				len(raw),
			),
		},
	}
}

// MaxPreview bounds the part of a result that is in histories, in bytes.
const MaxPreview = 256

// Preview returns the beginning of the text of content.
func Preview(content []tool.Content) string {
	var b strings.Builder
	for _, c := range content {
		if _, ok := agent.BlockProvider(c); ok {
			continue // It has no text.
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		switch {
		case c.Text != "":
			b.WriteString(c.Text)
		case len(c.JSON) > 0:
			b.Write(c.JSON)
		default:
			b.WriteString("[" + string(c.Type) + " " + c.MIMEType + "]")
		}
		if b.Len() > MaxPreview {
			break
		}
	}
	return tool.Clip(b.String(), MaxPreview-len("…"))
}

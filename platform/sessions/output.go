package sessions

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/platform/publicform"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

// outputOf returns what is kept of a result.
func outputOf(r *tool.Result) json.RawMessage { return publicform.Output(r, toolsession.MaxOutput) }

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

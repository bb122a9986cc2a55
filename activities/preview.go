package activities

import (
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// maxPreview bounds the part of a result that is in histories, in bytes.
const maxPreview = 256

// preview returns the beginning of the text of content.
func preview(content []tool.Content) string {
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
		if b.Len() > maxPreview {
			break
		}
	}
	return tool.Clip(b.String(), maxPreview-len("…"))
}

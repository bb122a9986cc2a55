package wait

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// InboxItem returns a call's result as an item of the inbox of its run, in the words of
// checklist S1-29. Of one with more than limit bytes, [tool.MaxInlineResult] for zero, the run is
// shown the preview that it is shown of any result.
func (c *Call) InboxItem(result *tool.Result, by string, limit int) agent.InboxItem {
	shown, _ := tool.Preview(result.Content, c.ID, limit)
	said := texts(shown)
	if result.IsError {
		raw, _ := json.Marshal(map[string]string{"error": said}) // A string: it cannot fail.
		said = string(raw)
	}
	return agent.InboxItem{
		Tenant: c.Principal.Tenant, RunID: c.RunID, Kind: agent.InboxResult, CallID: c.ID, By: by,
		Content: []tool.Content{tool.Text(fmt.Sprintf("[Tool Result: %s] (callId: %s) %s", c.Slug, c.CallID, said))},
	}
}

// texts returns blocks as a text: JSON as it is.
func texts(blocks []tool.Content) string {
	var out []string
	for _, b := range blocks {
		switch {
		case b.Type == tool.ContentText:
			out = append(out, b.Text)
		case len(b.JSON) > 0:
			out = append(out, string(b.JSON))
		}
	}
	return strings.Join(out, "\n")
}

package textcall

import (
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Read returns a model's answer with the calls that its text contains; see [Find]. An answer
// that has calls of its own, or none in its text, is returned as it is. The ids of the calls
// depend on the turn and their order only.
func Read(resp *agent.ModelResponse, turn int, offered func(name string) bool) *agent.ModelResponse {
	if len(resp.Calls) > 0 {
		return resp
	}
	out := *resp
	var found []Call
	if len(resp.Content) == 0 {
		found, out.Text = Find(resp.Text, offered)
	} else {
		out.Text, out.Content = "", nil
		for _, block := range resp.Content {
			if block.Type == tool.ContentText {
				var calls []Call
				calls, block.Text = Find(block.Text, offered)
				found = append(found, calls...)
				if len(calls) > 0 && block.Text == "" {
					continue
				}
				out.Text += block.Text
			}
			out.Content = append(out.Content, block)
		}
	}
	if len(found) == 0 {
		return resp
	}
	for i, c := range found[:min(len(found), MaxCalls)] {
		out.Calls = append(out.Calls, agent.Call{
			ID: fmt.Sprintf("text_%d_%d", turn, i), Name: c.Name, Arguments: c.Arguments, Repaired: c.Repaired,
		})
	}
	return &out
}

package remote

import (
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Entry is a message of a transcript in the form that providers expect: an
// assistant's calls together with their answers, one for each.
type Entry struct {
	Role    agent.Role // System, User or Assistant.
	Content []tool.Content
	Calls   []AnsweredCall
}

// AnsweredCall is a call with its answer.
type AnsweredCall struct {
	ID      string // Allowed by every provider, and unique.
	Call    agent.Call
	Content []tool.Content
	IsError bool
}

// noAnswer is sent for a call in a transcript that has no answer.
const noAnswer = "There is no answer to this call."

// ReadTranscript returns the entries of a transcript. A call without an answer
// gets a placeholder; an answer without a call is left out.
func ReadTranscript(messages []agent.Message) []Entry {
	var out []Entry
	var open []AnsweredCall // The calls that tool messages answer, of the last entry.
	seen := make(map[string]bool)
	for i, m := range messages {
		if m.Role == agent.RoleTool {
			if at := answered(open, m); at >= 0 {
				open[at].Content, open[at].IsError = m.Content, m.IsError
			}
			continue
		}
		entry := Entry{Role: m.Role, Content: m.Content}
		for position, c := range m.Calls {
			id := c.ID
			if !namePattern.MatchString(id) || seen[id] {
				id = fmt.Sprintf("call_%d_%d", i, position)
			}
			seen[id] = true
			entry.Calls = append(entry.Calls, AnsweredCall{
				ID: id, Call: c, Content: []tool.Content{tool.Text(noAnswer)}, IsError: true,
			})
		}
		open = entry.Calls
		out = append(out, entry)
	}
	return out
}

// answered returns the index of the call that a tool message answers, or -1. Ids
// may be duplicate, so the position decides if it matches.
func answered(calls []AnsweredCall, m agent.Message) int {
	if m.Position >= 0 && m.Position < len(calls) && calls[m.Position].Call.ID == m.CallID {
		return m.Position
	}
	for i, c := range calls {
		if c.Call.ID == m.CallID {
			return i
		}
	}
	return -1
}

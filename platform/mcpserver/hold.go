package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
)

// hold is what a call waits for that its caller cannot wait for: a person who approves it, or answers
// what it asks. One of the two is set.
type hold struct {
	invocation string // Whose call waits.
	asked      *agent.ApprovalAsked
	input      *agent.CallOffered
}

// same reports whether two holds are of one question.
func (h *hold) same(other *hold) bool {
	switch {
	case h == nil || other == nil:
		return h == other
	case h.asked != nil && other.asked != nil:
		return h.asked.ApprovalID == other.asked.ApprovalID && h.asked.Round == other.asked.Round
	default:
		return h.input != nil && other.input != nil && h.input.PendingID == other.input.PendingID
	}
}

// holds are those of the calls of one run, oldest first.
type holds []hold

// first returns the hold that is answered next; nil for none.
func (hs holds) first() *hold {
	if len(hs) == 0 {
		return nil
	}
	return &hs[0]
}

// after returns the holds there are after an event.
func (hs holds) after(e *tool.Event) holds {
	added := hold{invocation: e.InvocationID}
	switch e.Type { //nolint:exhaustive // The others change nothing.
	case tool.EventNeedsApproval:
		added.asked = new(agent.ApprovalAsked)
		if json.Unmarshal(e.Data, added.asked) != nil {
			return hs
		}
	case tool.EventPending:
		added.input = new(agent.CallOffered)
		if json.Unmarshal(e.Data, added.input) != nil || added.input.Kind != input.Kind ||
			added.input.Async || !added.input.RequiresResponse {
			return hs
		}
	case tool.EventApproved, tool.EventRejected, tool.EventExpired, tool.EventCancelled, tool.EventFailed,
		tool.EventStarted, tool.EventCompleted, tool.EventResultReceived:
		return hs.without(e.InvocationID)
	default:
		return hs
	}
	return append(hs.without(e.InvocationID), added)
}

func (hs holds) without(invocation string) holds {
	return slices.DeleteFunc(slices.Clone(hs), func(h hold) bool { return h.invocation == invocation })
}

// answer is what the caller of a call gets that waits for a person: for what, and how to go on. note says why
// the client's own person did not answer; empty for nothing to say. link opens the page of a request for
// input; empty for none.
func (h *hold) answer(w waiting, note, link string) *mcp.CallToolResult {
	text := h.waitsFor(link)
	if note != "" {
		text = note + ". " + text
	}
	text += fmt.Sprintf(" The call then goes on by itself, as run %s; do not make it anew. ", w.call.RunID)
	if w.callID != "" {
		text += "The same call with the same " + metaCallID + " waits for its result, which"
	} else {
		text += "Its result"
	}
	text += " can be read at " + runURI(w.call.RunID) + "."
	out := failed(text, tool.Denied, w.call.RunID)
	if h.asked != nil {
		out.Meta[metaKind] = string(tool.EventNeedsApproval)
		out.Meta[metaApproval] = h.asked.ApprovalID
	} else {
		out.Meta[metaKind] = string(tool.EventPending)
		out.Meta[metaInput] = h.input.PendingID
	}
	out.Content = append(out.Content, runLink(w.call.RunID, "The result, when the call has run"))
	return out
}

// waitsFor says what the call waits for, and who can go on from there.
func (h *hold) waitsFor(link string) string {
	if a := h.asked; a != nil {
		text := fmt.Sprintf("%s@%s has not run yet: it waits for an approval (%s).", a.Tool, a.Version, a.ApprovalID)
		if a.Message != "" {
			text += " " + a.Message
		}
		return text + fmt.Sprintf(" A person decides until %s, in the inbox or with: toolcrib approvals approve %s.",
			a.ExpiresAt.UTC().Format(time.RFC3339), a.ApprovalID)
	}
	in := h.input
	text := fmt.Sprintf("%s@%s asks a person and waits for the answer (%s).", in.Tool, in.Version, in.PendingID)
	if in.AnswerBy != nil {
		text += " It waits until " + in.AnswerBy.UTC().Format(time.RFC3339) + "."
	}
	if link != "" {
		return text + " Give the person this link, by which anyone answers it once: " + link + " ."
	}
	return text + " A link to its page is made with: toolcrib inputs link " + in.PendingID + "."
}

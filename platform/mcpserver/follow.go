package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	followPage = 100
	// progressEvery bounds how often progress is reported: output in between goes together.
	progressEvery = 100 * time.Millisecond
	// stillEvery is how often a call without output is reported to be running, which keeps clients
	// from giving it up.
	stillEvery = 10 * time.Second
	// maxProgressText bounds the text of a report, in bytes.
	maxProgressText = 2 << 10
)

// hold is what a call waits for that its caller cannot wait for: a person.
type hold struct {
	asked *agent.ApprovalAsked
}

// follow reads what happens to a call while it runs, and reports output and that it is held up.
func (s *Server) follow(ctx context.Context, c *Caller, w waiting, held chan<- hold) {
	news, leave := s.cfg.Wakes.Subscribe(ctx, c.Principal.Tenant, w.call.RunID)
	defer leave()
	p := progress{session: w.session, token: w.token}
	still := time.NewTicker(stillEvery)
	defer still.Stop()
	var after int64
	var holds *hold
	for {
		changed := news()
		page, err := s.cfg.Record.ReadStream(ctx, c.Principal.Tenant, w.call.RunID, after, followPage)
		if err != nil && ctx.Err() == nil && tool.KindOf(err) != tool.NotFound {
			s.log.DebugContext(ctx, "following a call failed", slog.String("run_id", w.call.RunID), slog.Any("error", err))
		}
		for i := range page.Events {
			after = page.Events[i].Seq
			holds = holds.after(&page.Events[i])
			p.saw(ctx, &page.Events[i])
		}
		if page.Over {
			return
		}
		if len(page.Events) == followPage {
			continue // A call that is joined may have been held up before.
		}
		if holds != nil {
			held <- *holds
			return
		}
		p.flush(ctx)
		select {
		case <-ctx.Done():
			return
		case <-still.C:
			p.still(ctx)
		case <-changed:
			select { // Output comes in bursts.
			case <-ctx.Done():
				return
			case <-time.After(progressEvery):
			}
		}
	}
}

// after returns what a call waits for after an event; nil for nothing.
func (h *hold) after(e *tool.Event) *hold {
	switch e.Type { //nolint:exhaustive // The others change nothing.
	case tool.EventNeedsApproval:
		var asked agent.ApprovalAsked
		if json.Unmarshal(e.Data, &asked) != nil {
			return h
		}
		return &hold{asked: &asked}
	case tool.EventApproved, tool.EventRejected, tool.EventExpired, tool.EventCancelled, tool.EventFailed,
		tool.EventStarted, tool.EventCompleted:
		return nil
	default:
		return h
	}
}

// answer tells the caller of a call what it waits for, and how to go on.
func (h hold) answer(w waiting) *mcp.CallToolResult {
	a := h.asked
	text := fmt.Sprintf("%s@%s has not run yet: it waits for an approval (%s).", a.Tool, a.Version, a.ApprovalID)
	if a.Message != "" {
		text += " " + a.Message
	}
	text += fmt.Sprintf(" A person decides until %s, in the inbox or with: toolcrib approvals approve %s. "+
		"The call then runs by itself, as run %s; do not make it anew. ",
		a.ExpiresAt.UTC().Format(time.RFC3339), a.ApprovalID, w.call.RunID)
	if w.callID != "" {
		text += "The same call with the same " + metaCallID + " waits for its result, which"
	} else {
		text += "Its result"
	}
	text += " can be read at " + runURI(w.call.RunID) + "."
	out := failed(text, tool.Denied, w.call.RunID)
	out.Meta[metaKind] = string(tool.EventNeedsApproval)
	out.Meta[metaApproval] = a.ApprovalID
	out.Content = append(out.Content, runLink(w.call.RunID, "The result, when the call has run"))
	return out
}

// progress reports the output of a call to a client that asked for it.
type progress struct {
	session *mcp.ServerSession
	token   any
	count   int
	text    []byte
}

// saw takes in an event.
func (p *progress) saw(ctx context.Context, e *tool.Event) {
	if p.token == nil || e.Type != tool.EventOutputAppended && e.Type != agent.EventOutputAppended {
		return
	}
	var out agent.Output
	if json.Unmarshal(e.Data, &out) != nil {
		return
	}
	if len(p.text)+len(out.Text) > maxProgressText {
		p.flush(ctx)
	}
	p.text = append(p.text, out.Text...)
}

// flush reports the output that has come since the last report.
func (p *progress) flush(ctx context.Context) {
	for len(p.text) > 0 {
		text := string(p.text)
		_, to := tool.CutText(text, 0, maxProgressText)
		p.notify(ctx, text[:to])
		p.text = p.text[to:]
	}
}

// still reports that the call is running.
func (p *progress) still(ctx context.Context) {
	if p.token != nil {
		p.notify(ctx, "running")
	}
}

func (p *progress) notify(ctx context.Context, text string) {
	p.count++
	// A client that has gone misses nothing.
	_ = p.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: p.token, Progress: float64(p.count), Message: text,
	})
}

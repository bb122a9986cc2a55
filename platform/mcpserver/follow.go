package mcpserver

import (
	"context"
	"encoding/json"
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

// follow reads what happens to a call while it runs. It reports output, and sends what the call, or a run below it,
// waits for whenever that changes: nil for nothing any more.
func (s *Server) follow(ctx context.Context, c *Caller, w waiting, held chan<- *hold) {
	news, leave := s.cfg.Wakes.Subscribe(ctx, c.Principal.Tenant, w.call.RunID)
	defer leave()
	p := progress{session: w.session, token: w.token}
	still := time.NewTicker(stillEvery)
	defer still.Stop()
	var look <-chan time.Time // Nil for a call without runs below it.
	if w.nests {
		ticker := time.NewTicker(belowEvery)
		defer ticker.Stop()
		look = ticker.C
	}
	var after int64
	var open holds
	var sent, lower *hold
	due := w.nests
	for {
		changed := news()
		page, err := s.cfg.Record.ReadStream(ctx, c.Principal.Tenant, w.call.RunID, after, followPage)
		if err != nil && ctx.Err() == nil && tool.KindOf(err) != tool.NotFound {
			s.log.DebugContext(ctx, "following a call failed", slog.String("run_id", w.call.RunID), slog.Any("error", err))
		}
		for i := range page.Events {
			after = page.Events[i].Seq
			open = open.after(&page.Events[i])
			p.saw(ctx, &page.Events[i])
		}
		if page.Over {
			p.flush(ctx)
			return
		}
		if len(page.Events) == followPage {
			continue // A call that is joined may have been held up before.
		}
		now := open.first()
		if due && now == nil {
			if found, err := s.below(ctx, c, w); err == nil { // Else the next look finds out.
				lower, due = found, false
			}
		}
		if now == nil {
			now = lower
		}
		if !now.same(sent) {
			select {
			case held <- now:
				sent = now
			case <-ctx.Done():
				return
			}
		}
		p.flush(ctx)
		select {
		case <-ctx.Done():
			return
		case <-still.C:
			p.still(ctx)
		case <-look:
			due = true
		case <-changed:
			select { // Output comes in bursts.
			case <-ctx.Done():
				return
			case <-time.After(progressEvery):
			}
		}
	}
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

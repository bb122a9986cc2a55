package mcpserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// maxWatched bounds the tools whose changes are noticed: those of the first pages of the list.
const (
	maxWatchedPages = 20
	watchedPage     = 200
)

// watches tells the clients that follow their session when the list of their tools has changed. Sessions of
// one key at one address share one look at the list. It is safe for concurrent use.
type watches struct {
	tools  Tools
	record Record
	every  time.Duration
	open   func(ctx context.Context, c *Caller) (bool, error) // The gate of views.

	mu sync.Mutex
	of map[string]*watch // By owner.
}

// watch is what the sessions of one key share.
type watch struct {
	sessions map[*session]int // With how many streams follow each.
	stop     context.CancelFunc
}

func newWatches(cfg *Config, open func(ctx context.Context, c *Caller) (bool, error)) *watches {
	return &watches{tools: cfg.Tools, record: cfg.Record, every: cfg.Watch, open: open, of: map[string]*watch{}}
}

// join watches for a session until leave is called.
func (ws *watches) join(ctx context.Context, s *session, c *Caller) (leave func()) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.of[s.owner]
	if w == nil {
		w = &watch{sessions: map[*session]int{}}
		var looking context.Context
		looking, w.stop = context.WithCancel(context.WithoutCancel(ctx))
		ws.of[s.owner] = w
		go ws.look(looking, w, Caller{Principal: c.Principal, Offer: c.Offer})
	}
	w.sessions[s]++
	return func() {
		ws.mu.Lock()
		defer ws.mu.Unlock()
		if w.sessions[s]--; w.sessions[s] == 0 {
			delete(w.sessions, s)
		}
		if len(w.sessions) == 0 {
			w.stop()
			delete(ws.of, s.owner)
		}
	}
}

// look looks at the list of a caller until ctx ends.
func (ws *watches) look(ctx context.Context, w *watch, c Caller) {
	tick := time.NewTicker(ws.every)
	defer tick.Stop()
	var last string
	for {
		now, err := ws.digest(ctx, c)
		if err == nil && last != "" && now != last {
			ws.announce(w)
		}
		if err == nil { // Else the next look finds out.
			last = now
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// announce tells the clients of a key that their list has changed.
func (ws *watches) announce(w *watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for s := range w.sessions {
		s.announce()
	}
}

// announce tells the client of a session that the list of its tools has changed. The library does so when
// a tool of its own list changes, which no client is shown.
func (s *session) announce() {
	s.server.AddTool(&mcp.Tool{Name: "changed", InputSchema: map[string]any{"type": "object"}}, notCalled)
}

func notCalled(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, &tool.Error{Kind: tool.NotFound, Op: "mcpserver", Msg: "unknown tool"}
}

// digest returns what is equal as long as the list of a caller's tools is. A toolset is read anew; where it
// was deleted or disabled, the list is empty.
func (ws *watches) digest(ctx context.Context, c Caller) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	sum, page := sha256.New(), resolver.Page{Limit: watchedPage}
	if c.Offer != nil {
		now, err := ws.record.FindOffer(ctx, c.Principal.Tenant, c.Offer.Slug)
		if err != nil && tool.KindOf(err) != tool.NotFound {
			return "", fmt.Errorf("looking at a toolset: %w", err)
		}
		if now.ID != c.Offer.ID {
			return "gone", nil
		}
		_, _ = fmt.Fprintln(sum, now.Catalog)
		c.Offer = &now
	}
	open, err := ws.open(ctx, &c)
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprintln(sum, open)
	for range maxWatchedPages {
		items, next, err := ws.tools.List(ctx, c.Principal, tool.Production, c.filter(), page)
		if err != nil {
			return "", fmt.Errorf("looking at the list of tools: %w", err)
		}
		for i := range items {
			item := &items[i]
			_, _ = fmt.Fprintln(sum, item.Tool.Slug, item.Digest, item.Tool.EgressClass, item.Overrides.Revisions())
		}
		if next == "" {
			break
		}
		page.After = next
	}
	return string(sum.Sum(nil)), nil
}

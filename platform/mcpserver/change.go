package mcpserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
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

// watches tells the clients that follow their session when the list of their tools or prompts has changed. Sessions of
// one key at one address share one look at the lists. It is safe for concurrent use.
type watches struct {
	tools  Tools
	record Record
	every  time.Duration
	open   func(ctx context.Context, c *Caller) (bool, error) // The gate of views.
	agents func(c *Caller) bool                               // Whether a caller sees agents.

	mu sync.Mutex
	of map[string]*watch // By owner.
}

// watch is what the sessions of one key share.
type watch struct {
	sessions map[*session]int // With how many streams follow each.
	stop     context.CancelFunc
}

func newWatches(
	cfg *Config, open func(ctx context.Context, c *Caller) (bool, error), agents func(c *Caller) bool,
) *watches {
	return &watches{
		tools: cfg.Tools, record: cfg.Record, every: cfg.Watch, open: open, agents: agents, of: map[string]*watch{},
	}
}

// lists are what is equal as long as the lists of a caller are.
type lists struct{ tools, prompts string }

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

// look looks at the lists of a caller until ctx ends.
func (ws *watches) look(ctx context.Context, w *watch, c Caller) {
	tick := time.NewTicker(ws.every)
	defer tick.Stop()
	var last *lists
	for {
		now, err := ws.digest(ctx, c)
		if err == nil && last != nil {
			ws.announce(w, now.tools != last.tools, now.prompts != last.prompts)
		}
		if err == nil { // Else the next look finds out.
			last = &now
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// announce tells the clients of a key which of their lists have changed.
func (ws *watches) announce(w *watch, tools, prompts bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for s := range w.sessions {
		s.announce(tools, prompts)
	}
}

// announce tells the client of a session which of its lists have changed. The library does so when a tool or a
// prompt of its own lists changes, which no client is shown.
func (s *session) announce(tools, prompts bool) {
	if tools {
		s.server.AddTool(&mcp.Tool{Name: "changed", InputSchema: map[string]any{"type": "object"}}, notCalled)
	}
	if prompts {
		s.server.AddPrompt(&mcp.Prompt{Name: "changed"}, notGiven)
	}
}

func notGiven(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return nil, &tool.Error{Kind: tool.NotFound, Op: "mcpserver", Msg: "unknown prompt"}
}

func notCalled(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, &tool.Error{Kind: tool.NotFound, Op: "mcpserver", Msg: "unknown tool"}
}

// digest returns what is equal as long as the lists of a caller are. A toolset is read anew, and has no prompts; where
// it was deleted or disabled, its list is empty.
func (ws *watches) digest(ctx context.Context, c Caller) (lists, error) {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	sum, prompts, page := sha256.New(), sha256.New(), resolver.Page{Limit: watchedPage}
	if c.Offer != nil {
		now, err := ws.record.FindOffer(ctx, c.Principal.Tenant, c.Offer.Slug)
		if err != nil && tool.KindOf(err) != tool.NotFound {
			return lists{}, fmt.Errorf("looking at a toolset: %w", err)
		}
		if now.ID != c.Offer.ID {
			return lists{tools: "gone"}, nil
		}
		_, _ = fmt.Fprintln(sum, now.Catalog)
		c.Offer = &now
	}
	open, err := ws.open(ctx, &c)
	if err != nil {
		return lists{}, err
	}
	_, _ = fmt.Fprintln(sum, open)
	for range maxWatchedPages {
		items, next, err := ws.tools.List(ctx, c.Principal, tool.Production, c.filter(), page)
		if err != nil {
			return lists{}, fmt.Errorf("looking at the list of tools: %w", err)
		}
		for i := range items {
			item := &items[i]
			_, _ = fmt.Fprintln(sum, item.Tool.Slug, item.Digest, item.Tool.EgressClass, item.Overrides.Revisions())
			if item.Tool.ImplementationType() == tool.Prompt && offered(&item.Tool) {
				_, _ = fmt.Fprintln(prompts, item.Tool.Slug, item.Digest, item.Overrides.Revisions())
			}
		}
		if next == "" {
			break
		}
		page.After = next
	}
	if c.Offer != nil {
		return lists{tools: string(sum.Sum(nil))}, nil
	}
	if ws.agents(&c) {
		if err := ws.watchAgents(ctx, &c, prompts); err != nil {
			return lists{}, err
		}
	}
	return lists{string(sum.Sum(nil)), string(prompts.Sum(nil))}, nil
}

// watchAgents adds the published agents, whose instructions are prompts. A draft of one that is edited counts as a
// change too, since a list may be announced once too often.
func (ws *watches) watchAgents(ctx context.Context, c *Caller, sum io.Writer) error {
	after := ""
	for range maxWatchedPages {
		found, err := ws.record.ListAgents(ctx, c.Principal.Tenant, after, watchedPage)
		if err != nil {
			return fmt.Errorf("looking at the list of agents: %w", err)
		}
		for i := range found {
			if found[i].Status == tool.Published {
				_, _ = fmt.Fprintln(sum, found[i].Slug, found[i].Revision)
			}
		}
		if len(found) < watchedPage {
			return nil
		}
		after = found[len(found)-1].Slug
	}
	return nil
}

package mcpserver

import (
	"context"
	"slices"
	"sync"
)

// notifications begins the methods that have no answer.
const notifications = "notifications/"

// libraryMethods are the methods that the library may answer. What it has beyond them may wait for the end of a
// session, which the end of its request is not.
var libraryMethods = []string{
	methodInitialize, "ping", "server/discover", "resources/list",
	"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed",
}

// ownMethods are the methods that [Server.answer] answers.
var ownMethods = []string{
	methodCallTool, "tools/list", "resources/read", "resources/templates/list", "prompts/list", "prompts/get",
	"completion/complete",
}

// Methods lists the methods that are served, so that tests can try each.
func Methods() []string { return slices.Concat(ownMethods, libraryMethods, []string{methodListen}) }

// served reports whether a method is served. Clients without sessions listen to changes by a request of its own.
func served(of *session, method string) bool {
	return slices.Contains(ownMethods, method) || slices.Contains(libraryMethods, method) ||
		of == nil && method == methodListen
}

// handlers counts what works on a request, in goroutines of its session: a request has ended when all of them
// have, and not when its client hangs up. It is safe for concurrent use.
type handlers struct {
	mu      sync.Mutex
	over    bool
	working sync.WaitGroup
}

// begin begins to work on the request, up to done. It reports false where the request has ended.
func (h *handlers) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return false
	}
	h.working.Add(1)
	return true
}

func (h *handlers) done() { h.working.Done() }

// end waits until nothing works on the request any more.
func (h *handlers) end() {
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	h.working.Wait()
}

// short returns the context of what is no call: it ends with the request, and after a short time. The context of
// a session lasts.
func (c *Caller) short(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	go func() {
		select {
		case <-c.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

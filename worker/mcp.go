package worker

import (
	"context"
	"log/slog"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
)

// servers returns the client of MCP servers, which keeps sessions in the
// database, so that a run's calls go on on any worker.
func (p *Plugin) servers(gate *egress.Gate, secrets secret.Resolver) *mcpcall.Client {
	p.mcp = mcpcall.NewClient(mcpcall.Options{
		Gate: gate, Secrets: secrets, Sessions: p.store, Commands: p.cfg.MCPCommands, Logger: p.cfg.Logger,
		Servers: attached{p.store}, Changed: p.stopChanged,
	})
	p.closers = append(p.closers, p.mcp)
	return p.mcp
}

// endSessions ends the sessions with MCP servers that no run uses any more.
func (p *Plugin) endSessions(ctx context.Context) {
	const atOnce = 100
	for {
		expired, err := p.store.TakeExpiredMCPSessions(ctx, atOnce)
		if err != nil {
			if ctx.Err() == nil {
				p.cfg.Logger.WarnContext(ctx, "taking idle MCP sessions failed", slog.Any("error", err)) // The next time takes them.
			}
			return
		}
		for _, e := range expired {
			p.mcp.End(ctx, e)
		}
		if len(expired) < atOnce || ctx.Err() != nil {
			return
		}
	}
}

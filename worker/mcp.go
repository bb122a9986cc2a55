package worker

import (
	"context"
	"log/slog"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
)

// servers returns the client of MCP servers, which keeps sessions in the
// database, so that a run's calls go on on any worker. Their ids are encrypted:
// without a key-encryption key, each process keeps its own in memory.
func (p *Plugin) servers(gate *egress.Gate, secrets secret.Resolver) *mcpcall.Client {
	opts := mcpcall.Options{
		Gate: gate, Secrets: secrets, Sessions: new(mcpcall.MemorySessions), Commands: p.cfg.MCPCommands,
		Logger:  p.cfg.Logger,
		Servers: attached{p.store}, Changed: p.stopChanged,
	}
	if p.vault.HasKeys() {
		p.sessions = p.vault.Sessions(p.store)
		opts.Sessions = p.sessions
	}
	p.mcp = mcpcall.NewClient(opts)
	p.closers = append(p.closers, p.mcp)
	return p.mcp
}

// endSessions ends the sessions with MCP servers that no run uses any more.
func (p *Plugin) endSessions(ctx context.Context) {
	const atOnce = 100
	for p.sessions != nil {
		expired, taken, err := p.sessions.TakeExpiredMCPSessions(ctx, atOnce)
		if err != nil {
			if ctx.Err() == nil {
				// The next run ends them.
				p.cfg.Logger.WarnContext(ctx, "taking idle MCP sessions failed", slog.Any("error", err))
			}
			return
		}
		for _, e := range expired {
			p.mcp.End(ctx, e)
		}
		if taken < atOnce || ctx.Err() != nil {
			return
		}
	}
}

package worker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// discoveryTimeout bounds how long listing a server's tools may take.
const discoveryTimeout = 45 * time.Second

// Discoverer returns the client that asks MCP servers for their tools, under
// the same rules as calls of the plugin's workers, for the registry that
// attaches them.
func (p *Plugin) Discoverer() mcpserver.Discoverer { return discoverer{p.mcp} }

type discoverer struct{ client *mcpcall.Client }

// CheckServer implements [mcpserver.Discoverer].
func (discoverer) CheckServer(c *definition.Connection) error { return mcpcall.CheckServer(c, "") }

// Discover implements [mcpserver.Discoverer]. It asks with posts, and to the
// server alone.
func (d discoverer) Discover(
	ctx context.Context, tenant tool.TenantID, c definition.Connection,
) (*mcpserver.Discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	return d.client.Discover(ctx, mcpcall.Access{Tenant: tenant, Class: tool.EgressWrite}, c)
}

// attached finds the servers that tenants attached.
type attached struct{ store *store.Store }

// Server implements [mcpcall.Servers]. The allowed tools of a server apply to
// tools that were written by hand and to mcp_call, as they do to imports.
func (a attached) Server(ctx context.Context, tenant tool.TenantID, slug, toolName string) (mcpcall.Server, error) {
	s, err := a.store.FindServer(ctx, tenant, slug)
	switch {
	case err != nil:
		return mcpcall.Server{}, fmt.Errorf("finding server %q: %w", slug, err)
	case s.Status != definition.ServerActive:
		return mcpcall.Server{}, &tool.Error{
			Kind: tool.Conflict, Op: "worker.Server", Msg: fmt.Sprintf("server %q is disabled", slug),
		}
	case !s.Allows(toolName):
		return mcpcall.Server{}, &tool.Error{Kind: tool.Denied, Op: "worker.Server", Msg: fmt.Sprintf(
			"the tool %.128q is not among the allowed tools of server %q", toolName, slug)}
	}
	return s.Connection, a.stopped(ctx, tenant, s, toolName)
}

// Trusted implements [mcpcall.Servers].
func (a attached) Trusted(ctx context.Context, tenant tool.TenantID, slug string) (bool, error) {
	s, err := a.store.FindServer(ctx, tenant, slug)
	if err != nil {
		return false, fmt.Errorf("finding server %q: %w", slug, err)
	}
	return s.Trusted, nil
}

// stopped refuses a tool that the server changed or withdrew, under any local
// name it is called by: its import is quarantined until a person reviews it.
func (a attached) stopped(ctx context.Context, tenant tool.TenantID, s mcpserver.Server, toolName string) error {
	known, err := a.store.FindRemoteTool(ctx, tenant, s.ID, toolName)
	switch {
	case tool.KindOf(err) == tool.NotFound && err != nil:
		return nil //nolint:nilerr // It was never imported.
	case err != nil:
		return fmt.Errorf("finding what is known of tool %q: %w", toolName, err)
	case known.State == mcpserver.StateChanged || known.State == mcpserver.StateGone:
		return &tool.Error{Kind: tool.Conflict, Op: "worker.Server", Msg: fmt.Sprintf(
			"the tool %.128q of server %q is stopped: %s; it has to be reviewed first", toolName, s.Slug, known.Reason)}
	}
	return nil
}

// stopChanged quarantines a tool whose server was found to define it
// differently, so that its next calls are not even admitted.
func (p *Plugin) stopChanged(ctx context.Context, call *tool.Call, why *remote.ChangedError) {
	err := p.store.StopChangedTool(context.WithoutCancel(ctx), call.Principal.Tenant, call.Version.ToolID, why.Pinned,
		why.Found == "")
	if err != nil {
		p.cfg.Logger.WarnContext(ctx, "stopping a tool that its server changed failed",
			slog.String("tenant_id", string(call.Principal.Tenant)),
			slog.String("tool", call.Version.Slug), slog.Any("error", err)) // This call was refused, and so is the next.
	}
}

package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// RefreshServer asks a server for its tools and updates the registry: it drafts
// new tools that are allowed, and quarantines those, and only those, whose
// definition is no longer the approved one. Approved tools resume where the
// server offers the approved definition again.
//
// A server that does not answer changes nothing: the failure is returned, and
// stored with the server.
func (r *Registry) RefreshServer(ctx context.Context, p tool.Principal, slugOrID string) (MCPServer, Refresh, error) {
	s, err := r.ownServer(ctx, p, slugOrID)
	if err != nil {
		return MCPServer{}, Refresh{}, err
	}
	if s.Status != ServerActive {
		return MCPServer{}, Refresh{}, refuse(tool.Conflict, "/status", "server %q is disabled: enable it before asking it",
			s.Slug)
	}
	return r.refresh(ctx, p, s)
}

// refresh asks s. Where only the server is to blame, the report has the failure
// too.
func (r *Registry) refresh(ctx context.Context, p tool.Principal, s MCPServer) (MCPServer, Refresh, error) {
	if r.opts.Discoverer == nil {
		return MCPServer{}, Refresh{}, errNoDiscoverer
	}
	now := r.opts.Clock().UTC()
	found, err := r.opts.Discoverer.Discover(ctx, s.Tenant, s.Connection)
	s.DiscoveredAt, s.UpdatedAt = &now, now
	if err != nil {
		return r.unanswered(ctx, s, fmt.Errorf("asking server %q what it offers: %w", s.Slug, err))
	}
	s.DiscoveryError, s.ProtocolVersion, s.ServerName, s.ServerVersion = "", found.Protocol, found.Name, found.Version
	known, err := r.remoteTools(ctx, &s)
	if err != nil {
		return MCPServer{}, Refresh{}, err
	}
	compared := plan{
		server: &s, now: now,
		standing: sync.OnceValues(func() ([]tool.Tool, error) {
			tools, err := r.store.ListServerTools(ctx, p.Tenant, s.Slug)
			if err != nil {
				return nil, fmt.Errorf("listing the tools of server %q: %w", s.Slug, err)
			}
			return tools, nil
		}),
		taken: func(slug string) (string, error) { return r.slugTaken(ctx, p.Tenant, slug) },
		draft: func(spec ToolSpec) (tool.Tool, error) {
			t, _, err := r.newTool(p.Tenant, spec)
			if err == nil {
				err = refuseUnwritable(&t.Definition)
			}
			return t, err
		},
	}
	if err := compared.compare(known, found); err != nil {
		return MCPServer{}, Refresh{}, err
	}
	saved, err := r.store.SaveServer(ctx, s, compared.changes)
	if err != nil {
		return MCPServer{}, Refresh{}, fmt.Errorf("keeping what server %q offers: %w", s.Slug, err)
	}
	return saved, compared.report, nil
}

// slugTaken says why an import cannot take a slug of a tenant; empty where it can.
func (r *Registry) slugTaken(ctx context.Context, tenant tool.TenantID, slug string) (string, error) {
	t, err := r.store.FindTool(ctx, tenant, tool.Ref{Slug: slug})
	switch {
	case err == nil && t.Tenant == tenant:
		return "which another tool has", nil
	case err != nil && tool.KindOf(err) != tool.NotFound:
		return "", fmt.Errorf("finding tool %q: %w", slug, err)
	}
	names, err := r.store.FurtherNames(ctx, tenant, []string{slug})
	if err != nil {
		return "", fmt.Errorf("looking for former names %q: %w", slug, err)
	}
	for _, n := range names {
		if n.Former() {
			return fmt.Sprintf("which is the former name of tool %q until %s", n.Slug, n.LastDay), nil
		}
	}
	return "", nil
}

// unanswered keeps why a server could not be asked.
func (r *Registry) unanswered(ctx context.Context, s MCPServer, cause error) (MCPServer, Refresh, error) {
	failed := tool.AsError(cause)
	s.DiscoveryError = failed.Msg
	saved, err := r.store.SaveServer(context.WithoutCancel(ctx), s, RemoteChanges{})
	if err != nil {
		return MCPServer{}, Refresh{}, fmt.Errorf("keeping why server %q was not asked: %w", s.Slug, err)
	}
	return saved, Refresh{Err: failed}, cause
}

// refuseUnwritable refuses a definition with characters that cannot be kept as
// they are, and so not be pinned.
func refuseUnwritable(d *tool.Definition) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return refuse(tool.Invalid, "", "it is malformed JSON")
	}
	var doc any
	if json.Unmarshal(raw, &doc) != nil || unwritable(doc) {
		return refuse(tool.Invalid, "", "it holds characters that cannot be stored: NUL, or half a surrogate pair")
	}
	return nil
}

func unwritable(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsAny(v, "\x00\ufffd") // Halves are read as the replacement.
	case []any:
		return slices.ContainsFunc(v, unwritable)
	case map[string]any:
		for name, item := range v {
			if unwritable(name) || unwritable(item) {
				return true
			}
		}
	}
	return false
}

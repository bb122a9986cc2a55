package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Refresh asks a server for its tools and updates the registry: it drafts
// new tools that are allowed, and quarantines those, and only those, whose
// definition is no longer the approved one. Approved tools resume where the
// server offers the approved definition again.
//
// A server that does not answer changes nothing: the failure is returned, and
// stored with the server.
func (r *Registry) Refresh(ctx context.Context, p tool.Principal, slugOrID string) (Server, Report, error) {
	s, err := r.own(ctx, p, slugOrID)
	if err != nil {
		return Server{}, Report{}, err
	}
	if s.Status != definition.ServerActive {
		return Server{}, Report{}, refusal.New(tool.Conflict, "/status", "server %q is disabled: enable it before asking it",
			s.Slug)
	}
	return r.refresh(ctx, p, s)
}

// refresh asks s for its tools. A failure of the server is returned, and is in
// Report.Err too.
func (r *Registry) refresh(ctx context.Context, p tool.Principal, s Server) (Server, Report, error) {
	if r.opts.Discoverer == nil {
		return Server{}, Report{}, errNoDiscoverer
	}
	now := r.opts.Clock().UTC()
	found, err := r.opts.Discoverer.Discover(ctx, s.Tenant, s.Connection)
	s.DiscoveredAt, s.UpdatedAt = &now, now
	if err != nil {
		return r.keepFailure(ctx, s, fmt.Errorf("asking server %q what it offers: %w", s.Slug, err))
	}
	s.DiscoveryError, s.ProtocolVersion, s.ServerName, s.ServerVersion = "", found.Protocol, found.Name, found.Version
	known, err := r.known(ctx, &s)
	if err != nil {
		return Server{}, Report{}, err
	}
	compared := plan{
		server: &s, now: now,
		tools: sync.OnceValues(func() ([]tool.Tool, error) {
			tools, err := r.store.ListServerTools(ctx, p.Tenant, s.Slug)
			if err != nil {
				return nil, fmt.Errorf("listing the tools of server %q: %w", s.Slug, err)
			}
			return tools, nil
		}),
		taken: func(slug string) (string, error) { return r.tools.SlugTaken(ctx, p.Tenant, slug) },
		draft: func(spec definition.ToolSpec) (tool.Tool, error) {
			t, err := r.tools.Draft(p.Tenant, spec)
			if err == nil {
				err = checkWritable(&t.Definition)
			}
			return t, err
		},
	}
	if err := compared.compare(known, found); err != nil {
		return Server{}, Report{}, err
	}
	saved, err := r.store.SaveServer(ctx, s, compared.changes)
	if err != nil {
		return Server{}, Report{}, fmt.Errorf("keeping what server %q offers: %w", s.Slug, err)
	}
	return saved, compared.report, nil
}

// keepFailure stores why a server could not be asked.
func (r *Registry) keepFailure(ctx context.Context, s Server, cause error) (Server, Report, error) {
	failed := tool.AsError(cause)
	s.DiscoveryError = failed.Msg
	saved, err := r.store.SaveServer(context.WithoutCancel(ctx), s, Changes{})
	if err != nil {
		return Server{}, Report{}, fmt.Errorf("keeping why server %q was not asked: %w", s.Slug, err)
	}
	return saved, Report{Err: failed}, cause
}

// checkWritable fails for a definition with characters that PostgreSQL cannot
// store, so that it could not be pinned by digest.
func checkWritable(d *tool.Definition) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return refusal.New(tool.Invalid, "", "it is malformed JSON")
	}
	var doc any
	if json.Unmarshal(raw, &doc) != nil || unwritable(doc) {
		return refusal.New(tool.Invalid, "", "it holds characters that cannot be stored: NUL, or half a surrogate pair")
	}
	return nil
}

func unwritable(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsAny(v, "\x00\ufffd") // encoding/json decodes half a surrogate pair as U+FFFD.
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

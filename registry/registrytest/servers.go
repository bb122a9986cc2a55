package registrytest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// server is an attached server with its tools, by name.
type server struct {
	row   mcpserver.Server
	tools map[string]mcpserver.Tool
}

// CreateServer implements [mcpserver.Store].
func (s *Store) CreateServer(_ context.Context, row mcpserver.Server) (mcpserver.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row.Tenant == "" || s.mayWrite(row.Tenant) != nil {
		return mcpserver.Server{}, notFound("tenant", string(row.Tenant))
	}
	if s.server(row.Tenant, row.Slug) != nil {
		return mcpserver.Server{}, conflict("a server %q is attached already", row.Slug)
	}
	if row.ID == "" {
		row.ID = newID()
	}
	row.Revision, row.Trusted = 1, false
	row.CreatedAt = time.Now().UTC()
	row.UpdatedAt = row.CreatedAt
	s.servers[row.ID] = &server{row: clone(row), tools: make(map[string]mcpserver.Tool)}
	return clone(row), nil
}

// SaveServer implements [mcpserver.Store].
func (s *Store) SaveServer(
	_ context.Context, row mcpserver.Server, c mcpserver.Changes,
) (mcpserver.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, err := s.checkServer(row)
	if err != nil {
		return mcpserver.Server{}, err
	}
	for _, head := range c.Create {
		for _, other := range s.tools {
			if other.Tenant == row.Tenant && other.Slug == head.Slug {
				return mcpserver.Server{}, conflict("tool %q exists already", head.Slug)
			}
		}
		head.Tenant = row.Tenant
		if err := s.freeOfFormer(head); err != nil {
			return mcpserver.Server{}, err
		}
	}
	for _, head := range c.Create {
		head.Tenant, head.Revision = row.Tenant, 1
		s.keepTool(head)
	}
	for id, reason := range c.Stop {
		if t, ok := s.tools[id]; ok && t.Tenant == row.Tenant && t.Quarantine != reason {
			t.Quarantine = reason
			t.Revision++
			s.keepTool(t)
		}
	}
	for _, t := range c.Put {
		if before, known := have.tools[t.Name]; known {
			t.FirstSeenAt = before.FirstSeenAt
		}
		have.tools[t.Name] = clone(t)
	}
	for _, name := range c.Seen {
		if t, known := have.tools[name]; known && row.DiscoveredAt != nil {
			t.SeenAt = *row.DiscoveredAt
			have.tools[name] = t
		}
	}
	row.Revision++
	row.Trusted = have.row.Trusted && row.URL == have.row.URL && row.Kind() == have.row.Kind() &&
		row.Command == have.row.Command
	have.row = clone(row)
	return clone(row), nil
}

// TrustServer implements [mcpserver.Store].
func (s *Store) TrustServer(_ context.Context, row mcpserver.Server, trusted bool) (mcpserver.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, err := s.checkServer(row)
	if err != nil {
		return mcpserver.Server{}, err
	}
	have.row.Trusted = trusted
	have.row.Revision++
	return clone(have.row), nil
}

// DetachServer implements [mcpserver.Store].
func (s *Store) DetachServer(_ context.Context, row mcpserver.Server) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, err := s.checkServer(row)
	if err != nil {
		return err
	}
	for _, t := range s.toolsOn(have.row.Tenant, have.row.Slug) {
		if t.Status == tool.Published || t.Status == tool.Deprecated {
			return conflict("server %q is in use: tool %q was published meanwhile", have.row.Slug, t.Slug)
		}
	}
	delete(s.servers, have.row.ID)
	return nil
}

// FindServer implements [mcpserver.Store].
func (s *Store) FindServer(_ context.Context, id tool.TenantID, slugOrID string) (mcpserver.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.server(id, slugOrID)
	if have == nil {
		return mcpserver.Server{}, notFound("server", slugOrID)
	}
	return clone(have.row), nil
}

// ListServers implements [mcpserver.Store].
func (s *Store) ListServers(
	_ context.Context, id tool.TenantID, afterSlug string, limit int,
) ([]mcpserver.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []mcpserver.Server
	for _, have := range s.servers {
		if have.row.Tenant == id && have.row.Slug > afterSlug {
			out = append(out, clone(have.row))
		}
	}
	slices.SortFunc(out, func(a, b mcpserver.Server) int { return cmp.Compare(a.Slug, b.Slug) })
	return firstFew(out, limit), nil
}

// FindRemoteTool implements [mcpserver.Store].
func (s *Store) FindRemoteTool(
	_ context.Context, id tool.TenantID, serverID, name string,
) (mcpserver.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.server(id, serverID); have != nil {
		if t, known := have.tools[name]; known {
			return s.join(t), nil
		}
	}
	return mcpserver.Tool{}, notFound("the server's tool", name)
}

// ListRemoteTools implements [mcpserver.Store].
func (s *Store) ListRemoteTools(
	_ context.Context, id tool.TenantID, serverID string, q mcpserver.ToolQuery,
) ([]mcpserver.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.server(id, serverID)
	if have == nil {
		return nil, nil
	}
	var out []mcpserver.Tool
	for _, t := range have.tools {
		if t.Name > q.AfterName && (q.State == "" || t.State == q.State) {
			out = append(out, s.join(t))
		}
	}
	slices.SortFunc(out, func(a, b mcpserver.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return firstFew(out, q.Limit), nil
}

// FindToolOrigin implements [mcpserver.Store].
func (s *Store) FindToolOrigin(_ context.Context, id tool.TenantID, toolID string) (mcpserver.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, have := range s.servers {
		for _, t := range have.tools {
			if have.row.Tenant == id && t.ToolID == toolID && toolID != "" {
				return s.join(t), nil
			}
		}
	}
	return mcpserver.Tool{}, notFound("the origin of tool", toolID)
}

// PinTool implements [mcpserver.Store].
func (s *Store) PinTool(_ context.Context, id tool.TenantID, toolID, digest, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, have := range s.servers {
		for name, t := range have.tools {
			if have.row.Tenant != id || t.ToolID != toolID || t.Seen == nil || t.Seen.Digest != digest {
				continue
			}
			now := time.Now().UTC()
			if t.ApprovedDigest != digest {
				t.ApprovedBy, t.ApprovedAt = by, &now
			}
			t.State, t.Reason, t.Pinned, t.ApprovedDigest = mcpserver.StatePinned, "", t.Seen, digest
			have.tools[name] = t
		}
	}
	return nil
}

// ListServerTools implements [mcpserver.Store].
func (s *Store) ListServerTools(_ context.Context, id tool.TenantID, serverSlug string) ([]tool.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.toolsOn(id, serverSlug), nil
}

// toolsOn returns the tenant's tools of which the draft or a published version runs on a server.
func (s *Store) toolsOn(id tool.TenantID, serverSlug string) []tool.Tool {
	var out []tool.Tool
	for _, t := range s.tools {
		uses := mcpserver.SlugOf(&t.Definition) == serverSlug
		for _, v := range s.versions[t.ID] {
			uses = uses || v.Published && mcpserver.SlugOf(&v.Snapshot.Definition) == serverSlug
		}
		if t.Tenant == id && uses {
			out = append(out, s.seen(t))
		}
	}
	slices.SortFunc(out, func(a, b tool.Tool) int { return strings.Compare(a.Slug, b.Slug) })
	return out
}

// server finds a tenant's server by slug or id.
func (s *Store) server(id tool.TenantID, slugOrID string) *server {
	for _, have := range s.servers {
		if have.row.Tenant == id && (have.row.ID == slugOrID || have.row.Slug == slugOrID) {
			return have
		}
	}
	return nil
}

// checkServer fails for a server that does not exist, belongs to another tenant, or
// has changed since it was read.
func (s *Store) checkServer(row mcpserver.Server) (*server, error) {
	have, ok := s.servers[row.ID]
	switch {
	case !ok || have.row.Tenant != row.Tenant:
		return nil, notFound("server", row.Slug)
	case have.row.Revision != row.Revision:
		return nil, changed("server", row.Slug)
	}
	return have, nil
}

// join returns a server's tool with the fields of the tenant's tool.
func (s *Store) join(t mcpserver.Tool) mcpserver.Tool {
	t = clone(t)
	if ours, ok := s.tools[t.ToolID]; ok {
		t.ToolSlug, t.ToolStatus, t.Quarantine = ours.Slug, ours.Status, ours.Quarantine
	}
	return t
}

func firstFew[T any](all []T, limit int) []T {
	if limit > 0 && len(all) > limit {
		return all[:limit]
	}
	return all
}

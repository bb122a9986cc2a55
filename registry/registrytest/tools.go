package registrytest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateTool implements [registry.Store].
func (s *Store) CreateTool(_ context.Context, t tool.Tool) (tool.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayWrite(t.Tenant); err != nil {
		return tool.Tool{}, err
	}
	for _, other := range s.tools {
		if other.Tenant == t.Tenant && other.Slug == t.Slug {
			return tool.Tool{}, conflict("tool %q exists already", t.Slug)
		}
	}
	if err := s.freeOfFormer(t); err != nil {
		return tool.Tool{}, err
	}
	if t.ID == "" {
		t.ID = newID()
	}
	t.Revision = 1
	if t.Global() && t.BuiltinKey != "" {
		on := true
		s.overrides[overrideKey{"", t.ID}] = tool.Override{
			ToolID: t.ID, Enabled: &on, Reason: "comes with the platform", ChangedBy: "platform",
		}
	}
	return s.keepTool(t), nil
}

// UpdateTool implements [registry.Store].
func (s *Store) UpdateTool(_ context.Context, t tool.Tool) (tool.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkTool(t); err != nil {
		return tool.Tool{}, err
	}
	runs := t.Status == tool.Published || t.Status == tool.Deprecated
	if on := mcpserver.SlugOf(&t.Definition); runs && !t.Global() && on != "" && s.server(t.Tenant, on) == nil {
		return tool.Tool{}, unattached(on)
	}
	t.Revision++
	return s.keepTool(t), nil
}

// DeleteTool implements [registry.Store].
func (s *Store) DeleteTool(_ context.Context, t tool.Tool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkTool(t); err != nil {
		return err
	}
	for _, attached := range s.servers {
		for _, remote := range attached.tools {
			if remote.ToolID == t.ID {
				return conflict("tool %q is of an MCP server", t.Slug)
			}
		}
	}
	delete(s.tools, t.ID) // Its versions stay.
	maps.DeleteFunc(s.aliases, func(_ aliasKey, a alias) bool { return a.toolID == t.ID })
	return nil
}

// FindTool implements [registry.Store].
func (s *Store) FindTool(_ context.Context, id tool.TenantID, ref tool.Ref) (tool.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *tool.Tool
	for _, t := range s.tools {
		if !s.sees(id, t) || t.Slug != ref.Slug && t.ID != ref.ID {
			continue
		}
		if found == nil || found.Tenant == "" {
			found = &t
		}
	}
	if found == nil {
		return tool.Tool{}, s.missing(id, ref.Name())
	}
	return s.seen(*found), nil
}

// ListTools implements [registry.Store].
func (s *Store) ListTools(_ context.Context, id tool.TenantID, q registry.ToolQuery) ([]tool.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []tool.Tool
	for _, t := range s.sortedTools(id) {
		if matches(&t, q) && (q.Limit <= 0 || len(out) < q.Limit) {
			out = append(out, s.seen(t))
		}
	}
	return out, nil
}

func unattached(server string) error {
	return &tool.Error{
		Kind: tool.Conflict, Path: "/implementation_config/server", Msg: fmt.Sprintf("no server %q is attached", server),
	}
}

// AddVersion implements [registry.Store].
func (s *Store) AddVersion(_ context.Context, t tool.Tool, v tool.Version) (tool.Tool, tool.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkTool(t); err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	on := mcpserver.SlugOf(&v.Snapshot.Definition)
	if v.Published && !t.Global() && on != "" && s.server(t.Tenant, on) == nil {
		return tool.Tool{}, tool.Version{}, unattached(on)
	}
	versions := s.versions[t.ID]
	i := slices.IndexFunc(versions, func(have tool.Version) bool { return have.Number == v.Number })
	if v.Published && (i < 0 || versions[i].Digest == v.Digest) {
		if err := s.rename(t, v.Snapshot.Interaction); err != nil {
			return tool.Tool{}, tool.Version{}, err
		}
	}
	switch {
	case i < 0:
		v = clone(v)
		v.ToolID, v.Tenant, v.Slug = t.ID, t.Tenant, t.Slug
		if v.ID == "" {
			v.ID = newID()
		}
		s.versions[t.ID] = append(versions, v)
	case versions[i].Digest != v.Digest:
		return tool.Tool{}, tool.Version{}, conflict("version %s of tool %q exists with other content", v.Number, t.Slug)
	default:
		if v.Published && !versions[i].Published {
			versions[i].Published, versions[i].PublishedAt = true, v.PublishedAt
		}
		v = versions[i]
	}
	t.Revision++
	return s.keepTool(t), clone(v), nil
}

// ListVersions implements [registry.Store].
func (s *Store) ListVersions(_ context.Context, id tool.TenantID, toolID string) ([]tool.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tools[toolID]
	if !ok || !s.sees(id, t) {
		return nil, notFound("tool", toolID)
	}
	out := clone(s.versions[toolID])
	slices.Reverse(out)
	return out, nil
}

// checkTool fails for a tool that does not exist, is not the writer's, or has
// changed since it was read.
func (s *Store) checkTool(t tool.Tool) error {
	have, ok := s.tools[t.ID]
	if !ok || have.Tenant != t.Tenant || s.mayWrite(t.Tenant) != nil {
		return notFound("tool", t.Slug)
	}
	if have.Revision != t.Revision {
		return changed("tool", t.Slug)
	}
	return nil
}

func (s *Store) keepTool(t tool.Tool) tool.Tool {
	if t.EgressClass == tool.EgressWrite { // As the database does.
		t.RequiresApproval = true
	}
	s.tools[t.ID] = clone(t)
	return clone(t)
}

func matches(t *tool.Tool, q registry.ToolQuery) bool {
	text := strings.ToLower(t.Slug + "\n" + t.Name + "\n" + t.Description)
	return (q.Status == "" || t.Status == q.Status) &&
		(q.Implementation == "" || t.ImplementationType() == q.Implementation) &&
		(q.Bucket == "" || t.Bucket() == q.Bucket) &&
		strings.Contains(text, strings.ToLower(q.Search)) &&
		!t.UpdatedAt.Before(q.UpdatedSince) && (t.ArchivedAt != nil) == q.Archived &&
		cmp.Or(cmp.Compare(t.Slug, q.AfterSlug), cmp.Compare(t.ID, q.AfterID)) > 0
}

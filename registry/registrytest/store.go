package registrytest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

var (
	_ registry.Store  = (*Store)(nil)
	_ resolver.Source = (*Store)(nil)
)

// Store keeps tools and agents in memory, under the rules that the database
// enforces: tenants do not see one another, global tools are written through
// [Store.Platform] only, revisions guard against lost updates. It is safe for
// concurrent use, and everything that goes in or comes out is a copy.
type Store struct {
	*memory
	platform bool
}

type memory struct {
	mu            sync.Mutex
	tenants       map[tool.TenantID]tenant
	tools         map[string]tool.Tool
	versions      map[string][]tool.Version // By tool id, in order of creation.
	aliases       map[aliasKey]alias
	agents        map[string]agent.Agent
	agentVersions map[string][]agent.Version
	servers       map[string]*server
	artifacts     map[string]*program
	overrides     map[overrideKey]tool.Override
	decided       map[overrideKey][]tool.OverrideVersion // Oldest first.
}

// aliasKey is a further name in a tenant, or among the global tools.
type aliasKey struct {
	tenant tool.TenantID
	name   string
}

type alias struct {
	toolID, removeBy string
	renamed          bool // It was the tool's slug.
}

type tenant struct {
	slug   string
	active bool
}

// NewStore returns an empty store. Tenants are added with [Store.AddTenant].
func NewStore() *Store {
	return &Store{memory: &memory{
		tenants: make(map[tool.TenantID]tenant), tools: make(map[string]tool.Tool), versions: make(map[string][]tool.Version),
		aliases: make(map[aliasKey]alias), servers: make(map[string]*server), artifacts: make(map[string]*program),
		agents: make(map[string]agent.Agent), agentVersions: make(map[string][]agent.Version),
		overrides: make(map[overrideKey]tool.Override),
		decided:   make(map[overrideKey][]tool.OverrideVersion),
	}}
}

// Platform returns the same store opened for the platform, which may write
// global tools.
func (s *Store) Platform() *Store { return &Store{memory: s.memory, platform: true} }

// AddTenant makes an active tenant and returns its id.
func (s *Store) AddTenant(slug string) tool.TenantID {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := tool.TenantID(newID())
	s.tenants[id] = tenant{slug: slug, active: true}
	return id
}

// SetActive suspends a tenant, or lets it go on.
func (s *Store) SetActive(id tool.TenantID, active bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tenants[id]
	t.active = active
	s.tenants[id] = t
}

// mayWrite reports whether rows of the given tenant may be written.
func (s *Store) mayWrite(id tool.TenantID) error {
	if _, known := s.tenants[id]; known && id != "" || id == "" && s.platform {
		return nil
	}
	return &tool.Error{Kind: tool.Denied, Op: "registrytest.Store", Msg: "no such tenant, or not yours to write for"}
}

// sees reports whether a tenant may know of a tool: its own, and the global
// ones that are for it.
func (s *Store) sees(reader tool.TenantID, t tool.Tool) bool {
	return t.Tenant == reader || t.Global() && (s.platform || t.Serves(s.tenants[reader].slug))
}

// seen returns a copy of a tool as a reader sees it: which tenants a global one
// is for is the platform's to know.
func (s *Store) seen(t tool.Tool) tool.Tool {
	if t.Global() && !s.platform {
		t.TenantSlugs = nil
	}
	return clone(t)
}

func changed(kind, slug string) error {
	return &tool.Error{
		Kind: tool.Conflict, Op: "registrytest.Store", Msg: fmt.Sprintf("%s %q was changed concurrently", kind, slug),
		Err: definition.ErrChanged,
	}
}

func conflict(format string, args ...any) error {
	return &tool.Error{Kind: tool.Conflict, Op: "registrytest.Store", Msg: fmt.Sprintf(format, args...)}
}

func notFound(what, name string) error {
	return &tool.Error{Kind: tool.NotFound, Op: "registrytest.Store", Msg: fmt.Sprintf("%s %q not found", what, name)}
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// clone copies v deeply, as a way through a database would.
func clone[T any](v T) T {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // The vocabulary always encodes, malformed raw JSON aside.
	}
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

// Entries implements [resolver.Source].
func (s *Store) Entries(_ context.Context, id tool.TenantID, ref tool.Ref) (resolver.Candidates, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.candidates(id)
	for _, t := range s.tools {
		if s.sees(id, t) && (t.Slug == ref.Slug || t.ID == ref.ID) {
			c.Entries = append(c.Entries, s.entry(id, t))
		}
	}
	if len(c.Entries) == 0 && ref.Slug != "" {
		c.Entries = s.entriesOf(id, ref.Slug)
	}
	return c, nil
}

// Page implements [resolver.Source].
func (s *Store) Page(_ context.Context, id tool.TenantID, q resolver.PageQuery) (resolver.Candidates, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.candidates(id)
	slugs, last := 0, ""
	for _, t := range s.sortedTools(id) {
		if t.Slug <= q.After {
			continue
		}
		if t.Slug != last {
			slugs, last = slugs+1, t.Slug
		}
		if slugs <= q.Limit {
			c.Entries = append(c.Entries, s.entry(id, t))
		}
	}
	return c, nil
}

// Policies implements [resolver.Source].
func (s *Store) Policies(_ context.Context, id tool.TenantID, toolIDs []string) (map[string]tool.Policy, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]tool.Policy, len(toolIDs))
	for _, toolID := range toolIDs {
		if t, ok := s.tools[toolID]; ok && s.sees(id, t) {
			out[toolID] = s.overridesOf(id, toolID).Raise(s.seen(t).Policy)
		}
	}
	return out, nil
}

// Version implements [resolver.Source].
func (s *Store) Version(_ context.Context, id tool.TenantID, toolID, digest string) (*tool.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.versions[toolID] {
		if (v.Tenant == id || s.sees(id, s.tools[toolID])) && v.Digest == digest {
			found := clone(v)
			return &found, nil
		}
	}
	return nil, notFound("version", digest)
}

// VersionsOf implements [resolver.Source].
func (s *Store) VersionsOf(
	ctx context.Context, id tool.TenantID, toolIDs, digests []string,
) (out []*tool.Version, err error) {
	for i := range toolIDs {
		if v, err := s.Version(ctx, id, toolIDs[i], digests[i]); err == nil {
			out = append(out, v)
		}
	}
	return out, nil
}

func (s *Store) candidates(id tool.TenantID) resolver.Candidates {
	t := s.tenants[id]
	return resolver.Candidates{TenantSlug: t.slug, TenantActive: t.active}
}

func (s *Store) entry(id tool.TenantID, t tool.Tool) resolver.Entry {
	e := resolver.Entry{Tool: s.seen(t), Overrides: s.overridesOf(id, t.ID)}
	for _, v := range s.versions[t.ID] {
		e.Versions = append(e.Versions, resolver.VersionInfo{
			ID: v.ID, Number: v.Number, Digest: v.Digest, Published: v.Published, ReadsDeclared: v.ReadsDeclared,
		})
	}
	return e
}

func (s *Store) sortedTools(id tool.TenantID) []tool.Tool {
	var out []tool.Tool
	for _, t := range s.tools {
		if s.sees(id, t) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b tool.Tool) int { return cmp.Or(cmp.Compare(a.Slug, b.Slug), cmp.Compare(a.ID, b.ID)) })
	return out
}

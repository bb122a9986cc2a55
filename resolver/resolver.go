package resolver

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/tool"
)

// Options of a [Resolver].
type Options struct {
	CacheSize int // Maximum cached versions; 10,000 when zero.
	// Types are the known implementation types. Tools of others are refused. Nil for
	// any type.
	Types []tool.Implementation
}

const defaultCacheSize = 10_000

// Resolver resolves references. It caches the content of versions, which never
// changes, and never authority, which may change at any time. It is safe for
// concurrent use.
type Resolver struct {
	source   Source
	types    []tool.Implementation
	versions *cache.Cache[versionKey, *tool.Version]
	views    *cache.Cache[viewKey, *tool.Version] // As overrides adapt them.
	run      string                               // See [Resolver.For].
}

type versionKey struct {
	tenant tool.TenantID
	toolID string
	digest string
}

// New returns a resolver that reads source.
func New(source Source, opts Options) *Resolver {
	if opts.CacheSize <= 0 {
		opts.CacheSize = defaultCacheSize
	}
	return &Resolver{
		source:   source,
		types:    opts.Types,
		versions: cache.New[versionKey, *tool.Version](cache.Options{Entries: opts.CacheSize}),
		views:    cache.New[viewKey, *tool.Version](cache.Options{Entries: opts.CacheSize}),
	}
}

// For returns a resolver of the same versions that resolves for a run: the run decides which canaries it gets.
func (r *Resolver) For(run string) *Resolver {
	of := *r
	of.run = run
	return &of
}

// Resolve returns the one version that req may run, or a [*tool.Error]: see
// [Select] for its kinds. The refusals of another tenant's tool and of an
// absent one have the same message.
func (r *Resolver) Resolve(ctx context.Context, req Request) (*Resolved, error) {
	if req.Run == "" {
		req.Run = r.run
	}
	c, err := r.candidates(ctx, req)
	if err != nil {
		return nil, err
	}
	return r.load(ctx, req, Select(c, req))
}

// Version returns a snapshot that was resolved before, by its digest. It is
// what a run that pinned the digest executes. The version is shared and
// immutable: never change it.
//
// It fails with tool.NotFound when the tenant may not see such a version, and
// with tool.Conflict when the digest was that of a draft which has changed
// since.
func (r *Resolver) Version(ctx context.Context, tenant tool.TenantID, toolID, digest string) (*tool.Version, error) {
	key := versionKey{tenant, toolID, digest}
	if v, ok := r.versions.Get(key); ok {
		return v, nil
	}
	v, err := r.source.Version(ctx, tenant, toolID, digest)
	if tool.KindOf(err) == tool.NotFound {
		v, err = r.draft(ctx, tenant, toolID, digest)
	}
	if err != nil {
		return nil, fmt.Errorf("loading version %.12s of tool %s: %w", digest, toolID, err)
	}
	r.versions.Set(key, v)
	return v, nil
}

// Versions returns the contents of items of a list, in their order, under the numbers of the items and as their
// overrides adapt them. Those that are not in memory are read together.
// It fails as [Resolver.Version] does.
func (r *Resolver) Versions(ctx context.Context, tenant tool.TenantID, items []Item) ([]*tool.Version, error) {
	out, err := r.stored(ctx, tenant, items)
	for i := range out {
		if err != nil {
			return nil, err
		}
		v := out[i]
		if v.Number != items[i].Version { // The same content under several numbers, or in memory as the draft that it was.
			named := *v
			named.Number, named.Published = items[i].Version, !items[i].Draft
			v = &named
		}
		out[i], err = r.adapt(tenant, v, items[i].Overrides)
	}
	return out, err
}

// stored returns the versions of items as they are stored.
func (r *Resolver) stored(ctx context.Context, tenant tool.TenantID, items []Item) ([]*tool.Version, error) {
	out := make([]*tool.Version, len(items))
	var ids, digests []string
	for i := range items {
		v, ok := r.versions.Get(versionKey{tenant, items[i].Tool.ID, items[i].Digest})
		if out[i] = v; !ok {
			ids, digests = append(ids, items[i].Tool.ID), append(digests, items[i].Digest)
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	read, err := r.source.VersionsOf(ctx, tenant, ids, digests)
	if err != nil {
		return nil, fmt.Errorf("loading %d versions of tools: %w", len(ids), err)
	}
	found := make(map[versionKey]*tool.Version, len(read))
	for _, v := range read {
		key := versionKey{tenant, v.ToolID, v.Digest}
		found[key] = v
		r.versions.Set(key, v)
	}
	for i := range items {
		if out[i] != nil {
			continue
		}
		if out[i] = found[versionKey{tenant, items[i].Tool.ID, items[i].Digest}]; out[i] == nil { // A draft.
			if out[i], err = r.Version(ctx, tenant, items[i].Tool.ID, items[i].Digest); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// draft returns the head of a tool as a version when it has the given digest.
func (r *Resolver) draft(ctx context.Context, tenant tool.TenantID, toolID, digest string) (*tool.Version, error) {
	ref := tool.Ref{ID: toolID}
	c, err := r.source.Entries(ctx, tenant, ref)
	if err != nil {
		return nil, err
	}
	for _, e := range c.Entries {
		if e.Tool.ID != toolID || e.Tool.Tenant != tenant && !e.Tool.Global() {
			continue
		}
		now, err := tool.Snapshot{Definition: e.Tool.Definition}.Digest()
		if err != nil || now != digest {
			return nil, &tool.Error{
				Kind: tool.Conflict, Op: "resolver.Version", Err: err,
				Msg: fmt.Sprintf("the draft of tool %q has changed since it was bound", e.Tool.Slug),
			}
		}
		return draftVersion(&e.Tool, digest), nil
	}
	return nil, notFound(ref)
}

// candidates reads the entries that a well-formed request may refer to.
func (r *Resolver) candidates(ctx context.Context, req Request) (Candidates, error) {
	if _, err := check(req, &trail{}); err != nil {
		return Candidates{TenantActive: true}, nil //nolint:nilerr // Select refuses the request with the same error.
	}
	c, err := r.source.Entries(ctx, req.Principal.Tenant, req.Ref)
	if err != nil {
		return Candidates{}, fmt.Errorf("resolving tool %q: %w", req.Ref, err)
	}
	if len(c.Entries) == 0 {
		if c.Entries, err = r.formerBuiltin(ctx, req); err != nil {
			return Candidates{}, err
		}
	}
	c.Types = r.types
	return c, nil
}

// load completes a selection with the content of the version.
func (r *Resolver) load(ctx context.Context, req Request, s Selection) (*Resolved, error) {
	if s.Err != nil {
		return nil, s.Err
	}
	res := &Resolved{Tool: *s.Tool, Draft: s.Draft, Shadows: s.Shadows, Deprecated: s.Deprecated, Warnings: s.Warnings}
	res.AskedAs, res.Overrides = s.AskedAs, s.Overrides.Revisions()
	if s.Draft {
		draft := draftVersion(s.Tool, s.Version.Digest)
		r.versions.Set(versionKey{req.Principal.Tenant, s.Tool.ID, s.Version.Digest}, draft)
		return r.finish(req, res, draft, s.Overrides)
	}
	v, err := r.Version(ctx, req.Principal.Tenant, s.Tool.ID, s.Version.Digest)
	if err != nil {
		return nil, err
	}
	if kind := v.Snapshot.ImplementationType(); !known(r.types, kind) {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "resolver.Resolve",
			Msg: fmt.Sprintf("version %s has the unknown implementation type %q", v, kind),
		}
	}
	if v.Number != s.Version.Number { // The same content under several numbers.
		named := *v
		named.ID, named.Number = s.Version.ID, s.Version.Number
		named.Published, named.ReadsDeclared = s.Version.Published, s.Version.ReadsDeclared
		v = &named
	}
	return r.finish(req, res, v, s.Overrides)
}

// finish completes what was resolved with its version, as overrides adapt it.
func (r *Resolver) finish(req Request, res *Resolved, v *tool.Version, overrides tool.Overrides) (*Resolved, error) {
	var err error
	if res.Version, err = r.adapt(req.Principal.Tenant, v, overrides); err != nil {
		return nil, err
	}
	res.Tool.Description = shownDescription(&res.Tool, overrides)
	if limits := overrides.Adaptation().Limits; limits != nil {
		res.Limits = *limits
	}
	return res, nil
}

// draftVersion returns a head as a version.
func draftVersion(t *tool.Tool, digest string) *tool.Version {
	return &tool.Version{
		ToolID: t.ID, Tenant: t.Tenant, Slug: t.Slug, Number: draftNumber(t.Version), Digest: digest,
		Snapshot: tool.Snapshot{Definition: t.Definition}, CreatedAt: t.UpdatedAt, ReadsDeclared: t.ReadsDeclared,
	}
}

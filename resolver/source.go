package resolver

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// Source is the resolver's data source. Package store implements it. It returns
// a tenant's own tools and the global ones that are for it, never another
// tenant's.
type Source interface {
	// Entries returns the entries that ref may mean for the tenant: at most one of its
	// own and one global, none when there is no such tool. If no tool has the slug, they
	// are those that have it as an alias, or as a former name until its last day.
	Entries(ctx context.Context, tenant tool.TenantID, ref tool.Ref) (Candidates, error)
	// Page returns entries in (slug, id) order: all entries of each slug of the page.
	Page(ctx context.Context, tenant tool.TenantID, q PageQuery) (Candidates, error)
	// Policies returns the current policies of those of the tools that the tenant may see.
	Policies(ctx context.Context, tenant tool.TenantID, toolIDs []string) (map[string]tool.Policy, error)
	// Version returns a snapshot of a tool the tenant may see by its digest.
	Version(ctx context.Context, tenant tool.TenantID, toolID, digest string) (*tool.Version, error)
	// VersionsOf returns the snapshots that the tenant may see of several, each given by the id of its tool and
	// its digest, in any order.
	VersionsOf(ctx context.Context, tenant tool.TenantID, toolIDs, digests []string) ([]*tool.Version, error)
	// OverridesAt returns the overrides of a tool as they were at the given revisions, which may have been
	// replaced or removed since. It fails with tool.NotFound where one was never there.
	OverridesAt(
		ctx context.Context, tenant tool.TenantID, toolID string, at tool.OverrideRevisions,
	) (tool.Overrides, error)
	// OverridesOf returns the current overrides of several tools, by their ids.
	OverridesOf(ctx context.Context, tenant tool.TenantID, toolIDs []string) (map[string]tool.Overrides, error)
}

// Candidates are the entries that a tenant's reference may refer to.
type Candidates struct {
	TenantSlug   string // Of the asking tenant.
	TenantActive bool   // False when the tenant is suspended.
	Entries      []Entry
	// Types are the implementation types that are known; any is when nil. The
	// resolver sets them.
	Types []tool.Implementation
}

// Entry is a tool's head with the versions it has, without their content.
type Entry struct {
	Tool     tool.Tool
	Versions []VersionInfo // In no particular order.
	Alias    *Alias        // The name it was found by, where that is no slug or id.
	// Overrides are what the tenant and the platform decided about the tool. Policies of
	// [Source] have them already.
	Overrides tool.Overrides
}

// Alias is a further name of a tool.
type Alias struct {
	Name string
	// Internal says that the name is never shown: the tool goes by its slug.
	Internal bool
	RemoveBy string // The last day of a former name, as "2006-01-02"; else empty.
}

// VersionInfo is a version without its content.
type VersionInfo struct {
	ID        string
	Number    string // Semver.
	Digest    string
	Published bool
	// Withheld is the percent of runs that do not get the version, which is a canary: 0 for a version that is
	// none, 100 for one that was taken back.
	Withheld int
	// ReadsDeclared records who declared that its POST only reads; nil where it
	// is not declared.
	ReadsDeclared *tool.Declaration
}

// PageQuery asks a [Source] for the first Limit slugs after After of which at least
// one entry passes the other fields. These only save work: a source may let more pass.
type PageQuery struct {
	After          string
	Limit          int
	Within         []string            // Ids of tools; nil for all.
	Implementation tool.Implementation // As in [Filter].
	Bucket         tool.Bucket
	// Search is ASCII without upper case. Slug, name and description, joined by line
	// feeds, contain it; the case of ASCII letters in them is ignored.
	Search string
}

package store

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// Platform acts as the owner of the tables, for tenants themselves and global tools.
// Of tenants' data it exports and erases a whole tenant's; it cannot read them otherwise.
type Platform struct {
	store *Store
}

// OpenPlatform connects to a migrated database as [OwnerRole], or as
// [Options.SetRole]. The login role must be a member of it. It fails like [Open],
// except for the check of the role.
func OpenPlatform(ctx context.Context, url string, opts Options) (*Platform, error) {
	if opts.SetRole == "" {
		opts.SetRole = OwnerRole
	}
	s, err := connect(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	checking, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := s.checkSchema(checking); err != nil {
		s.pool.Close()
		return nil, err
	}
	s.platform = true
	return &Platform{store: s}, nil
}

// Close waits for running queries and closes the pool.
func (p *Platform) Close() { p.store.Close() }

// Registry returns the store of global tools. Its methods take the empty tenant only.
func (p *Platform) Registry() registry.Store { return p.store }

// Audit returns the platform's audit log. Its methods take the empty tenant only.
func (p *Platform) Audit() audit.Log { return p.store }

// CreateTenant stores a new active tenant; an empty id is generated. It fails with
// tool.Conflict when the slug is taken, and with tool.Invalid when it is not lower-case
// letters, digits and dashes.
func (p *Platform) CreateTenant(ctx context.Context, t Tenant) (Tenant, error) {
	const op = "store.CreateTenant"
	id, err := idOrNew(string(t.ID))
	if err != nil {
		return Tenant{}, err
	}
	if err := checkIDs(op, id); err != nil {
		return Tenant{}, err
	}
	if t.Name == "" {
		t.Name = t.Slug
	}
	var row db.Tenant
	err = p.store.do(ctx, op, "", func(q *db.Queries) error {
		row, err = q.CreateTenant(ctx, db.CreateTenantParams{TenantID: id, Slug: text(t.Slug), Name: text(t.Name)})
		return err
	})
	err = explain(err, tool.Conflict, fmt.Sprintf(
		"a tenant %q exists already, or was erased: its name is not used again", t.Slug))
	err = explain(
		err, tool.Invalid,
		fmt.Sprintf("tenant slug %q: want a lower-case letter or digit, then at most 62 of those and dashes", t.Slug),
	)
	return tenantOf(row), err
}

// FindTenant returns a tenant by slug or id. It fails with tool.NotFound.
func (p *Platform) FindTenant(ctx context.Context, slugOrID string) (Tenant, error) {
	var row db.Tenant
	err := p.store.do(ctx, "store.FindTenant", "", func(q *db.Queries) (err error) {
		if tool.ValidID(slugOrID) {
			row, err = q.FindTenant(ctx, slugOrID)
		} else {
			row, err = q.FindTenantBySlug(ctx, text(slugOrID))
		}
		return err
	})
	return tenantOf(row), explain(err, tool.NotFound, fmt.Sprintf("tenant %q not found", slugOrID))
}

// ListTenants returns a page of tenants in the order of slugs.
func (p *Platform) ListTenants(ctx context.Context, afterSlug string, limit int) ([]Tenant, error) {
	var rows []db.Tenant
	err := p.store.do(ctx, "store.ListTenants", "", func(q *db.Queries) (err error) {
		rows, err = q.ListTenants(ctx, db.ListTenantsParams{After: text(afterSlug), Limit: pageSize(limit)})
		return err
	})
	return convert(rows, tenantOf), err
}

// SetTenantStatus suspends or resumes a tenant. It fails with tool.NotFound, and with
// tool.Conflict where a tenant is resumed that is being erased.
func (p *Platform) SetTenantStatus(ctx context.Context, tenant tool.TenantID, status TenantStatus) (Tenant, error) {
	const op = "store.SetTenantStatus"
	if !tool.ValidID(string(tenant)) {
		return Tenant{}, notFound(op, "tenant not found")
	}
	var row db.Tenant
	err := p.store.do(ctx, op, "", func(q *db.Queries) (err error) {
		row, err = q.SetTenantStatus(ctx, db.SetTenantStatusParams{TenantID: string(tenant), Status: string(status)})
		return err
	})
	err = explain(err, tool.Conflict, "the tenant is being erased: it stays suspended")
	return tenantOf(row), explain(err, tool.NotFound, "tenant not found")
}

// MostUnfinishedRuns is the largest limit of unfinished runs that a tenant may have.
const MostUnfinishedRuns = quota.MaxRuns

// SetTenantMaxUnfinished sets how many pending and running runs a tenant may have; zero
// for the limit of the servers. Runs that it has beyond it go on. It fails with
// tool.Invalid outside 0 to [MostUnfinishedRuns], and with tool.NotFound.
func (p *Platform) SetTenantMaxUnfinished(ctx context.Context, tenant tool.TenantID, most int) (Tenant, error) {
	const op = "store.SetTenantMaxUnfinished"
	if !tool.ValidID(string(tenant)) {
		return Tenant{}, notFound(op, "tenant not found")
	}
	if most < 0 || most > MostUnfinishedRuns {
		return Tenant{}, &tool.Error{
			Kind: tool.Invalid, Op: op,
			Msg: fmt.Sprintf("a limit of %d unfinished runs is out of range: 1 to %d, or 0 for that of the servers",
				most, MostUnfinishedRuns),
		}
	}
	params := db.SetTenantMaxUnfinishedParams{TenantID: string(tenant)}
	if most > 0 {
		params.Most = new(number(most))
	}
	var row db.Tenant
	err := p.store.do(ctx, op, "", func(q *db.Queries) (err error) {
		row, err = q.SetTenantMaxUnfinished(ctx, params)
		return err
	})
	return tenantOf(row), explain(err, tool.NotFound, "tenant not found")
}

// EnsurePartitions is [Store.EnsurePartitions].
func (p *Platform) EnsurePartitions(ctx context.Context, monthsAhead int) (int, error) {
	return p.store.EnsurePartitions(ctx, monthsAhead)
}

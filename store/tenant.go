package store

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// TenantStatus is the status of a tenant.
type TenantStatus string

// Statuses of a tenant.
const (
	TenantActive    TenantStatus = "active"
	TenantSuspended TenantStatus = "suspended" // Its keys are refused and its calls stop at the next admission.
)

// Tenant is an isolation boundary: one customer or team, with its data.
type Tenant struct {
	ID     tool.TenantID `json:"id"`
	Slug   string        `json:"slug"`
	Name   string        `json:"name"`
	Status TenantStatus  `json:"status"`
	// MaskSensitive hides likely secrets when the tenant's runs, messages,
	// invocations and events are shown.
	MaskSensitive bool `json:"mask_sensitive"`
	// MaxUnfinishedRuns bounds its pending and running runs. Zero for the limit of the servers.
	MaxUnfinishedRuns int `json:"max_unfinished_runs,omitempty"`
	// Taint is what is done with calls of tainted runs that write outside or use a credential.
	Taint tool.TaintRule `json:"taint"`
	// PublishViews says whether views of the tenant may be published: see package view.
	PublishViews bool      `json:"mcp_apps_publish_enabled"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
}

// FindTenant returns the tenant itself. It fails with tool.NotFound.
func (s *Store) FindTenant(ctx context.Context, tenant tool.TenantID) (Tenant, error) {
	row, err := ask(ctx, s.do, "store.FindTenant", tenant, (*db.Queries).FindTenant, string(tenant))
	if err != nil {
		return Tenant{}, explain(err, tool.NotFound, "tenant not found")
	}
	return tenantOf(row), nil
}

// TenantSlug returns the slug of the tenant, which never changes. It fails with tool.NotFound.
func (s *Store) TenantSlug(ctx context.Context, tenant tool.TenantID) (string, error) {
	found, err := s.FindTenant(ctx, tenant)
	return found.Slug, err
}

// TenantOfSlug returns the id of the tenant with a slug. It fails with
// tool.NotFound.
func (s *Store) TenantOfSlug(ctx context.Context, slug string) (tool.TenantID, error) {
	const op = "store.TenantOfSlug"
	var id string
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		id, err = q.TenantOfSlug(ctx, slug)
		return err
	})
	if err == nil && id == "" {
		err = notFound(op, fmt.Sprintf("tenant %.64q not found", slug))
	}
	return tool.TenantID(id), err
}

// SetTenantMasking sets whether likely secrets are hidden when the tenant's records are
// shown. It fails with tool.NotFound.
func (s *Store) SetTenantMasking(ctx context.Context, tenant tool.TenantID, mask bool) (Tenant, error) {
	row, err := ask(ctx, s.do, "store.SetTenantMasking", tenant, (*db.Queries).SetTenantMasking, db.SetTenantMaskingParams{
		TenantID: string(tenant), MaskSensitive: mask,
	})
	if err != nil {
		return Tenant{}, explain(err, tool.NotFound, "tenant not found")
	}
	return tenantOf(row), nil
}

// SetTenantTaint sets what is done with calls of tainted runs that write outside or use a
// credential. It fails with tool.Invalid for an unknown rule and with tool.NotFound.
func (s *Store) SetTenantTaint(ctx context.Context, tenant tool.TenantID, rule tool.TaintRule) (Tenant, error) {
	const op = "store.SetTenantTaint"
	if !slices.Contains(tool.TaintRules(), rule) {
		return Tenant{}, &tool.Error{
			Kind: tool.Invalid, Op: op, Path: "/taint", Msg: fmt.Sprintf("taint %.40q: expected off, approve or deny", rule),
		}
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).SetTenantTaint, db.SetTenantTaintParams{
		TenantID: string(tenant), Taint: string(rule),
	})
	if err != nil {
		return Tenant{}, explain(err, tool.NotFound, "tenant not found")
	}
	return tenantOf(row), nil
}

func tenantOf(row db.Tenant) Tenant {
	most := 0
	if row.MaxUnfinishedRuns != nil {
		most = int(*row.MaxUnfinishedRuns)
	}
	return Tenant{
		MaxUnfinishedRuns: most,

		ID: tool.TenantID(row.ID), Slug: row.Slug, Name: row.Name, Status: TenantStatus(row.Status),
		MaskSensitive: row.MaskSensitive, Taint: tool.TaintRule(row.Taint), PublishViews: row.McpAppsPublishEnabled,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
}

var tenantSlug = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// ValidTenantSlug reports whether slug can be the slug of a tenant.
func ValidTenantSlug(slug string) bool { return tenantSlug.MatchString(slug) }

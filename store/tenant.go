package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// TenantStatus says whether a tenant may do anything.
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
	// MaskSensitive says whether what looks like a secret is hidden where the
	// tenant's runs, messages, invocations and events are shown.
	MaskSensitive bool      `json:"mask_sensitive"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// FindTenant returns the tenant itself. It fails with tool.NotFound.
func (s *Store) FindTenant(ctx context.Context, tenant tool.TenantID) (Tenant, error) {
	var row db.Tenant
	err := s.do(ctx, "store.FindTenant", tenant, func(q *db.Queries) (err error) {
		row, err = q.FindTenant(ctx, string(tenant))
		return err
	})
	if err != nil {
		return Tenant{}, explain(err, tool.NotFound, "tenant not found")
	}
	return tenantOf(row), nil
}

// SetTenantMasking chooses whether what looks like a secret is hidden where the
// tenant's records are shown. It fails with tool.NotFound.
func (s *Store) SetTenantMasking(ctx context.Context, tenant tool.TenantID, mask bool) (Tenant, error) {
	var row db.Tenant
	err := s.do(ctx, "store.SetTenantMasking", tenant, func(q *db.Queries) (err error) {
		row, err = q.SetTenantMasking(ctx, db.SetTenantMaskingParams{TenantID: string(tenant), MaskSensitive: mask})
		return err
	})
	if err != nil {
		return Tenant{}, explain(err, tool.NotFound, "tenant not found")
	}
	return tenantOf(row), nil
}

func tenantOf(row db.Tenant) Tenant {
	return Tenant{
		ID: tool.TenantID(row.ID), Slug: row.Slug, Name: row.Name, Status: TenantStatus(row.Status),
		MaskSensitive: row.MaskSensitive,
		CreatedAt:     row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
}

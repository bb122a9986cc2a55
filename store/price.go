package store

import (
	"cmp"
	"context"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

var _ usage.Prices = (*Store)(nil)

// Prices returns the prices of the platform, for every tenant. Its methods take the empty tenant
// only.
func (p *Platform) Prices() usage.Prices { return p.store }

// SetPrice implements [usage.Prices]. An empty id is generated; that of a price that it replaces
// stays.
func (s *Store) SetPrice(ctx context.Context, p usage.Price) (usage.Price, error) {
	const op = "store.SetPrice"
	if err := p.Check(); err != nil {
		return usage.Price{}, err
	}
	id, err := idOrNew(p.ID)
	if err != nil {
		return usage.Price{}, err
	}
	if err := checkIDs(op, id, p.ToolID); err != nil {
		return usage.Price{}, err
	}
	params := db.SetPriceParams{
		TenantID: optional(string(p.Tenant)), ScopeID: scopeID(p.Tenant), ID: id, ToolID: optional(p.ToolID),
		Version: text(p.Version), Model: optional(text(p.Model)), ValidFrom: optionalTime(p.From), ValidUntil: p.Until,
		ChangedBy: text(p.ChangedBy),
	}
	if p.ToolID != "" {
		params.CallMicros = new(int64(p.Call))
	}
	params.UnitEstimate = 1
	if p.Unit != nil {
		params.UnitEstimate = cmp.Or(p.Unit.Expected, 1)
		params.UnitPointer, params.UnitMicros = new(text(p.Unit.Pointer)), new(int64(p.Unit.Micros))
		for _, part := range p.Unit.Path() {
			params.UnitPath = append(params.UnitPath, text(part))
		}
	}
	if r := p.Tokens; r != nil {
		params.InputMicros, params.OutputMicros = new(int64(r.Input)), new(int64(r.Output))
		params.CachedMicros, params.ReasoningMicros = (*int64)(r.Cached), (*int64)(r.Reasoning)
	}
	row, err := ask(ctx, s.do, op, p.Tenant, (*db.Queries).SetPrice, params)
	if err != nil {
		return usage.Price{}, explain(err, tool.NotFound, "tool not found")
	}
	stored := priceOf(row)
	stored.Tool = p.Tool
	return stored, nil
}

// ListPrices implements [usage.Prices].
func (s *Store) ListPrices(
	ctx context.Context, tenant tool.TenantID, before string, limit int,
) ([]usage.Price, error) {
	const op = "store.ListPrices"
	if err := checkIDs(op, before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListPrices, db.ListPricesParams{
		ScopeID: scopeID(tenant), Before: optional(before), Limit: pageSize(limit),
	})
	return convert(rows, func(row db.ListPricesRow) usage.Price {
		p := priceOf(row.Price)
		p.Tool = row.Tool
		return p
	}), err
}

// DeletePrice implements [usage.Prices]. What ended before keeps its cost.
func (s *Store) DeletePrice(ctx context.Context, tenant tool.TenantID, id string) (usage.Price, error) {
	const op = "store.DeletePrice"
	if !tool.ValidID(id) {
		return usage.Price{}, notFound(op, "price not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeletePrice, db.DeletePriceParams{
		ScopeID: scopeID(tenant), ID: id,
	})
	if err != nil {
		return usage.Price{}, explain(err, tool.NotFound, "price not found")
	}
	return priceOf(row), nil
}

func priceOf(row db.Price) usage.Price {
	p := usage.Price{
		ID: row.ID, Tenant: tool.TenantID(value(row.TenantID)), ToolID: value(row.ToolID), Version: row.Version,
		Model: value(row.Model), From: row.ValidFrom, Until: row.ValidUntil,
		ChangedBy: row.ChangedBy, ChangedAt: row.ChangedAt,
	}
	if row.CallMicros != nil {
		p.Call = usage.Micros(*row.CallMicros)
	}
	if row.UnitPointer != nil && row.UnitMicros != nil {
		p.Unit = &usage.Unit{Pointer: *row.UnitPointer, Micros: usage.Micros(*row.UnitMicros), Expected: row.UnitEstimate}
	}
	if row.InputMicros != nil && row.OutputMicros != nil {
		p.Tokens = &usage.Rates{
			Input: usage.Micros(*row.InputMicros), Output: usage.Micros(*row.OutputMicros),
			Cached: (*usage.Micros)(row.CachedMicros), Reasoning: (*usage.Micros)(row.ReasoningMicros),
		}
	}
	return p
}

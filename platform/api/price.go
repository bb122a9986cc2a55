package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

type deletePriceInput struct {
	ID string `path:"price" maxLength:"64"`
}

func (s *server) registerPrices() {
	handle(s, route{
		id: "setPrice", method: http.MethodPost, path: "/v1/prices", tag: "usage", permission: PricesWrite,
		status: http.StatusCreated, summary: "Set the price of a tool or of a model",
		detail: "Of the prices that are valid when a call or a turn ends, one counts: the tenant's before the platform's, " +
			"one of the version before one of every version, then the one that is valid since the latest time. It replaces " +
			"the tenant's price of the same thing from the same time. What ended before keeps its cost.",
	}, s.setPrice)
	handle(s, route{
		id: "listPrices", method: http.MethodGet, path: "/v1/prices", tag: "usage", permission: PricesRead,
		summary: "List prices of the tenant and of the platform, newest first",
	}, s.listPrices)
	handle(s, route{
		id: "deletePrice", method: http.MethodDelete, path: "/v1/prices/{price}", tag: "usage", permission: PricesWrite,
		summary: "Delete a price of the tenant", detail: "What ended before keeps its cost.",
	}, s.deletePrice)
}

func (s *server) setPrice(ctx context.Context, p tool.Principal, in *body[v1.NewPrice]) (*body[v1.Price], error) {
	var of tool.Tool
	if in.Body.Tool != "" {
		var err error
		if of, err = s.findTool(ctx, p, in.Body.Tool); err != nil {
			return nil, err
		}
	}
	price := in.Body.Price(of)
	price.Tenant, price.ChangedBy = p.Tenant, p.Subject
	stored, err := s.cfg.Store.SetPrice(ctx, price)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromPrice(stored)), nil
}

func (s *server) listPrices(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.Price], error) {
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	prices, err := s.cfg.Store.ListPrices(ctx, p.Tenant, before, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(*in, prices, v1.FromPrice, func(p usage.Price) string { return p.ID })), nil
}

func (s *server) deletePrice(ctx context.Context, p tool.Principal, in *deletePriceInput) (*body[v1.Price], error) {
	gone, err := s.cfg.Store.DeletePrice(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromPrice(gone)), nil
}

package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/budget"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

type deleteBudgetInput struct {
	Name string `path:"budget" maxLength:"63"`
}

func (s *server) registerBudgets() {
	handle(s, route{
		id: "setBudget", method: http.MethodPost, path: "/v1/budgets", tag: "usage", permission: BudgetsWrite,
		status: http.StatusCreated, summary: "Set a budget of the tenant",
		detail: "It replaces the tenant's budget with the same name; what was spent of that one in the present period " +
			"stays. A call of a tool and a turn of a model with a price reserve it in every budget that they count in " +
			"before they begin, and are denied where one has too little left. A new budget counts what begins after it.",
	}, s.setBudget)
	handle(s, route{
		id: "listBudgets", method: http.MethodGet, path: "/v1/budgets", tag: "usage", permission: BudgetsRead,
		summary: "List budgets of the tenant, and of the platform for it, by name, with what is spent and reserved",
	}, s.listBudgets)
	handle(s, route{
		id: "deleteBudget", method: http.MethodDelete, path: "/v1/budgets/{budget}", tag: "usage", permission: BudgetsWrite,
		summary: "Delete a budget of the tenant, by its name",
	}, s.deleteBudget)
}

func (s *server) setBudget(ctx context.Context, p tool.Principal, in *body[v1.NewBudget]) (*body[v1.Budget], error) {
	b := in.Body.Budget()
	b.Tenant, b.ChangedBy = p.Tenant, p.Subject
	if in.Body.Tool != "" {
		of, err := s.findTool(ctx, p, in.Body.Tool)
		if err != nil {
			return nil, err
		}
		b.ToolID = of.ID
	}
	if in.Body.Agent != "" {
		of, err := s.cfg.Store.FindAgent(ctx, p.Tenant, in.Body.Agent)
		if err != nil {
			return nil, err
		}
		b.AgentID = of.ID
	}
	if in.Body.Profile != "" {
		of, err := s.cfg.Store.FindProfile(ctx, p.Tenant, in.Body.Profile)
		if err != nil {
			return nil, err
		}
		b.ProfileID = of.ID
	}
	stored, err := s.cfg.Store.SetBudget(ctx, b)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromBudget(stored)), nil
}

func (s *server) listBudgets(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.Budget], error) {
	after, err := budgetAfter(in.Cursor)
	if err != nil {
		return nil, err
	}
	budgets, err := s.cfg.Store.ListBudgets(ctx, p.Tenant, after, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(*in, budgets, v1.FromBudget, placeOfBudget)), nil
}

func (s *server) deleteBudget(
	ctx context.Context, p tool.Principal, in *deleteBudgetInput,
) (*body[v1.Budget], error) {
	gone, err := s.cfg.Store.DeleteBudget(ctx, p.Tenant, budget.Key{Name: in.Name})
	if err != nil {
		return nil, err
	}
	return answer(v1.FromBudget(gone)), nil
}

// ofPlatform ends the place of a budget that the platform set.
const ofPlatform = "/platform"

func placeOfBudget(b budget.Budget) string {
	if b.ByPlatform {
		return b.Name + ofPlatform
	}
	return b.Name
}

// budgetAfter returns the last budget of the page before the one that a cursor is for.
func budgetAfter(cursor string) (budget.Key, error) {
	place, err := openCursor(cursor)
	if err != nil {
		return budget.Key{}, err
	}
	name, byPlatform := strings.CutSuffix(place, ofPlatform)
	return budget.Key{Name: name, ByPlatform: byPlatform}, nil
}

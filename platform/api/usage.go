package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

type usageInput struct {
	GroupBy string `query:"group_by" maxLength:"64" doc:"day, agent, tool and model, separated by commas; one sum when absent" example:"tool"`
	From    string `query:"from" maxLength:"10" doc:"The first day, in UTC; that of this month when absent" example:"2026-03-01"`
	To      string `query:"to" maxLength:"10" doc:"The last day, in UTC; today when absent" example:"2026-03-31"`
}

type runUsageInput struct {
	ID   string `path:"id" maxLength:"64"`
	From int    `query:"from_turn" minimum:"0" doc:"Of the turns only those from this one on"`
}

func (s *server) registerUsage() {
	handle(s, route{
		id: "getUsage", method: http.MethodGet, path: "/v1/usage", tag: "usage", permission: UsageRead,
		summary: "Report calls, tokens and costs by day, agent, tool and model",
		detail: "Calls and turns of models are counted in the transaction that ends them. By tools alone, turns are left " +
			"out, and by models alone, calls of tools. A report has at most 10,000 rows.",
	}, s.getUsage)
	handle(s, route{
		id: "getRunUsage", method: http.MethodGet, path: "/v1/runs/{id}/usage", tag: "usage", permission: RunsRead,
		summary: "Get the tokens and costs of a run, in all and by turn",
	}, s.getRunUsage)
}

func (s *server) getUsage(ctx context.Context, p tool.Principal, in *usageInput) (*body[v1.UsageReport], error) {
	now := time.Now().UTC()
	q := usage.Query{From: time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC), To: now}
	var err error
	if q.By, err = usage.ParseGroups(in.GroupBy); err != nil {
		return nil, err
	}
	if err := readDay("from", in.From, &q.From); err != nil {
		return nil, err
	}
	if err := readDay("to", in.To, &q.To); err != nil {
		return nil, err
	}
	if q.To.Before(q.From) {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "api", Path: "to", Msg: "the last day is before the first one"}
	}
	rows, err := s.cfg.Store.Usage(ctx, p.Tenant, q)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromUsage(q, rows)), nil
}

// readDay reads a day, if there is one.
func readDay(name, text string, day *time.Time) error {
	if text == "" {
		return nil
	}
	read, err := time.Parse(time.DateOnly, text)
	if err != nil || read.Year() < 1 {
		return &tool.Error{Kind: tool.Invalid, Op: "api", Path: name, Msg: "expected a day such as 2026-03-12"}
	}
	*day = read
	return nil
}

func (s *server) getRunUsage(ctx context.Context, p tool.Principal, in *runUsageInput) (*body[v1.RunUsage], error) {
	used, err := s.cfg.Store.RunUsage(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	used.Turns = slices.DeleteFunc(used.Turns, func(t usage.Turn) bool { return t.Turn < in.From })
	return answer(v1.FromRunUsage(used)), nil
}

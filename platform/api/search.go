package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type searchInput struct {
	Q     string   `query:"q" required:"true" minLength:"1" maxLength:"200" doc:"Words that the names have, or an id" example:"refund"`
	Kinds []string `query:"kinds" maxItems:"20" doc:"Of what alone, with commas between: tool, agent, pipeline, space, credential, key, toolset, schedule, mcp_server, profile, role, budget, webhook, tool_session, view" example:"[\"tool\"]"`
	Limit int      `query:"limit" minimum:"1" maximum:"20" default:"20"`
}

// named are the kinds of what has a name, and the permissions to see them.
var named = []struct{ kind, needs string }{
	{store.NamedTool, ToolsRead},
	{store.NamedAgent, AgentsRead},
	{store.NamedPipeline, PipelinesRead},
	{store.NamedSpace, SpacesRead},
	{store.NamedCredential, CredentialsRead},
	{store.NamedKey, KeysRead},
	{store.NamedToolset, ToolsRead},
	{store.NamedSchedule, SchedulesRead},
	{store.NamedServer, ToolsRead},
	{store.NamedProfile, ProfilesRead},
	{store.NamedRole, RolesRead},
	{store.NamedBudget, BudgetsRead},
	{store.NamedWebhook, WebhooksRead},
	{store.NamedSession, RunsRead},
	{store.NamedView, ViewsRead},
}

func (s *server) registerSearch() {
	handle(s, route{
		id: "search", method: http.MethodGet, path: "/v1/search", tag: "tools", permission: ToolsRead,
		or: []string{
			AgentsRead, RunsRead, ApprovalsRead, PipelinesRead, SpacesRead, CredentialsRead, KeysRead, SchedulesRead,
			ProfilesRead, RolesRead, BudgetsRead, WebhooksRead, ViewsRead, ResultsSubmit,
		},
		summary: "Search everything by name or id",
		detail: "Of what the key may see: tools, agents, pipelines, spaces, credentials, keys, toolsets, schedules, MCP " +
			"servers, profiles, roles, budgets, webhooks, tool sessions and published views whose names have every word; with " +
			"an id, the run, call, approval, request for input or pending call. The name itself comes first, then names that " +
			"begin with the text.",
	}, s.search)
}

func (s *server) search(ctx context.Context, p tool.Principal, in *searchInput) (*listed[v1.Found], error) {
	out := v1.Page[v1.Found]{Items: []v1.Found{}}
	if id := strings.TrimSpace(in.Q); tool.ValidID(id) && len(in.Kinds) == 0 {
		found, err := s.findByID(ctx, p, id)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, found...)
	}
	q := store.NameQuery{Text: in.Q, Limit: in.Limit, Permissions: p.Permissions, Manages: p.May(ToolsWrite)}
	for _, k := range named {
		if p.May(k.needs) && (len(in.Kinds) == 0 || slices.Contains(in.Kinds, k.kind)) {
			q.Kinds = append(q.Kinds, k.kind)
		}
	}
	if !p.May(SpacesWrite) {
		q.Member = self(p).Name
	}
	found, err := s.cfg.Store.SearchNames(ctx, p.Tenant, q)
	if err != nil {
		return nil, err
	}
	for _, n := range found {
		out.Items = append(out.Items, v1.Found{Kind: n.Kind, ID: n.ID, Name: n.Name, Title: n.Title, State: n.State})
	}
	out.Items = out.Items[:min(len(out.Items), in.Limit)]
	return answer(out), nil
}

// findByID returns what a call or a run is known by, and tools and agents, with an id, of those that the
// principal may see.
func (s *server) findByID(ctx context.Context, p tool.Principal, id string) (out []v1.Found, err error) {
	look := func(needs string, find func() (v1.Found, error)) {
		if err != nil || !p.May(needs) {
			return
		}
		found, failed := find()
		switch {
		case failed == nil:
			out = append(out, found)
		case tool.KindOf(failed) != tool.NotFound:
			err = failed
		}
	}
	look(RunsRead, func() (v1.Found, error) {
		r, err := s.cfg.Store.FindRun(ctx, p.Tenant, id)
		return v1.Found{Kind: "run", ID: r.ID, Name: r.ID, Title: cmp.Or(r.Agent, r.Tool), State: string(r.Status)}, err
	})
	look(ApprovalsRead, func() (v1.Found, error) {
		a, err := s.cfg.Store.FindApproval(ctx, p.Tenant, id)
		return v1.Found{
			Kind: "approval", ID: a.ID, Name: a.ID, Title: a.Tool, State: string(a.Status), RunID: a.RunID,
		}, err
	})
	look(RunsRead, func() (v1.Found, error) {
		i, err := s.cfg.Store.FindInvocation(ctx, p.Tenant, id)
		return v1.Found{
			Kind: "call", ID: i.InvocationID, Name: i.InvocationID, Title: i.Slug, State: string(i.Status), RunID: i.RunID,
		}, err
	})
	look(ResultsSubmit, func() (v1.Found, error) {
		c, err := s.cfg.Store.FindCall(ctx, p.Tenant, id)
		kind := "pending_call"
		if c.Implementation == tool.Input {
			kind = "input_request"
		}
		return v1.Found{Kind: kind, ID: c.ID, Name: c.ID, Title: c.Slug, State: string(c.Status), RunID: c.RunID}, err
	})
	look(ToolsRead, func() (v1.Found, error) {
		t, err := s.findTool(ctx, p, id)
		return v1.Found{Kind: store.NamedTool, ID: t.ID, Name: t.Slug, Title: t.Name, State: string(t.Status)}, err
	})
	look(AgentsRead, func() (v1.Found, error) {
		a, err := s.cfg.Store.FindAgent(ctx, p.Tenant, id)
		return v1.Found{Kind: store.NamedAgent, ID: a.ID, Name: a.Slug, Title: a.Name, State: string(a.Status)}, err
	})
	return out, err
}

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// registerMe adds what a client asks first.
func (s *server) registerMe() {
	op := func(id, path, summary, detail string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"sessions"}, Summary: summary,
			Description: detail, Middlewares: huma.Middlewares{s.receive, withRequest}, MaxBodyBytes: s.cfg.MaxBodyBytes,
			Responses: map[string]*huma.Response{"default": s.problemResponse()},
		}
	}
	me := op("getMe", "/v1/me", "Who asks, and what they may do",
		"A browser that is signed in and names no tenant in `"+TenantHeader+"` learns its tenants alone.")
	me.Security = []map[string][]string{{"key": {}}}
	me.Middlewares = huma.Middlewares{s.receive, s.recognize}
	huma.Register(s.api, me, s.getMe)
	s.describeProblems(&me, route{method: me.Method, path: me.Path})
	huma.Register(s.api, op("getMeta", "/v1/meta", "What the server is",
		"Its version, and the names that lists can be filtered by, with what they mean. Without a key."),
		func(context.Context, *struct{}) (*body[v1.Meta], error) { return answer(s.meta()), nil })
	s.registerBrowserSessions()
}

// recognize passes on requests with a valid key, token or session, whatever it permits, and those of a
// browser that names no tenant.
func (s *server) recognize(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	ctx = huma.WithValue(ctx, browserKey{}, r)
	if s.browserOf(r) != nil && r.Header.Get("Authorization") == "" && r.Header.Get(TenantHeader) == "" {
		w.Header().Set("Cache-Control", "no-store")
		next(ctx)
		return
	}
	p, sh, err := s.identify(ctx.Context(), r, w, place{})
	if sh != nil {
		s.shares.headers(sh, w.Header())
	}
	if err != nil {
		s.refuse(ctx, err)
		return
	}
	recordOf(ctx.Context()).tenant = p.Tenant
	next(huma.WithValue(ctx, principalKey{}, p))
}

func (s *server) getMe(ctx context.Context, _ *struct{}) (*body[v1.Me], error) {
	out := v1.Me{Tenants: []v1.BrowserTenant{}, Permissions: []string{}, Features: []v1.Feature{}}
	if browser := s.browserOf(httpRequestOf(ctx)); browser != nil {
		tenants, err := s.cfg.Store.BrowserTenants(ctx, browser)
		if err != nil {
			return nil, s.problem(ctx, "getMe", err)
		}
		for _, t := range tenants {
			out.Tenants = append(out.Tenants, v1.BrowserTenant(t))
		}
	}
	p, ok := ctx.Value(principalKey{}).(tool.Principal)
	if !ok {
		return answer(out), nil
	}
	t, err := s.cfg.Store.FindTenant(ctx, p.Tenant)
	if err != nil {
		return nil, s.problem(ctx, "getMe", err)
	}
	out.Subject, out.Tenant = p.Subject, &v1.BrowserTenant{Slug: t.Slug, Name: t.Name}
	for _, permission := range Permissions() {
		if p.May(permission) {
			out.Permissions = append(out.Permissions, permission)
		}
	}
	out.Features = s.features(p)
	return answer(out), nil
}

// features lists the parts of the platform, and why the principal does not have one.
func (s *server) features(p tool.Principal) []v1.Feature {
	var out []v1.Feature
	for _, f := range []struct{ name, permission string }{
		{"tools", ToolsRead},
		{"agents", AgentsRead},
		{"runs", RunsRead},
		{"approvals", ApprovalsRead},
		{"approvals.decide", ApprovalsDecide},
		{"runs.start", RunsWrite},
		{"spaces", SpacesRead},
		{"pipelines", PipelinesRead},
		{"credentials", CredentialsRead},
		{"keys", KeysRead},
		{"usage", UsageRead},
		{"audit", AuditRead},
		{"budgets", BudgetsRead},
		{"settings", TenantsRead},
		{"webhooks", WebhooksRead},
		{"schedules", SchedulesRead},
		{"views", ViewsRead},
	} {
		feature := v1.Feature{Name: f.name, Available: p.May(f.permission)}
		if !feature.Available {
			feature.Because = "your key lacks the permission " + f.permission
		}
		out = append(out, feature)
	}
	inbox := v1.Feature{Name: "inbox", Available: p.May(ApprovalsRead) || p.May(ResultsSubmit)}
	if !inbox.Available {
		inbox.Because = "your key lacks the permissions " + ApprovalsRead + " and " + ResultsSubmit
	}
	return append(out, inbox)
}

func (s *server) meta() v1.Meta {
	m := v1.Meta{
		Version: s.cfg.Version, Development: s.cfg.Browsers.PlainHTTP, Tokens: s.cfg.Issuers != nil,
		TemporalUI:          s.cfg.TemporalUI,
		ImplementationTypes: []string{}, ProblemKinds: []string{},
	}
	if s.files != nil {
		m.MaxFileBytes = s.files.MaxBytes()
	}
	for _, t := range s.cfg.Registry.Types().Names() {
		m.ImplementationTypes = append(m.ImplementationTypes, string(t))
	}
	for _, kind := range tool.Kinds() {
		m.ProblemKinds = append(m.ProblemKinds, string(kind))
	}
	for _, p := range KnownPermissions() {
		m.Permissions = append(m.Permissions, v1.KnownPermission{Name: p.Name, Meaning: p.Meaning, Roles: p.In})
	}
	for _, a := range audit.Actions() {
		m.AuditActions = append(m.AuditActions, v1.KnownName{Name: string(a.Action), Meaning: a.Meaning})
	}
	for _, e := range webhook.Events() {
		m.WebhookEvents = append(m.WebhookEvents, v1.KnownName{Name: string(e.Type), Meaning: e.Meaning})
	}
	return m
}

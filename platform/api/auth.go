package api

import (
	"context"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/identity"
	"github.com/toolcrib/toolcrib/platform/mcpserver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// principalKey carries the principal from the middleware of an operation to
// the function that registered it, which hands it to the handler as an
// argument. No other code reads it.
type principalKey struct{}

// authorize passes on requests whose key is valid and has one of the permissions of the
// route. What the request changes is by its principal in the audit log.
func (s *server) authorize(r route) func(huma.Context, func(huma.Context)) {
	permissions := r.permissions()
	return func(ctx huma.Context, next func(huma.Context)) {
		request, w := humachi.Unwrap(ctx)
		p, sh, err := s.identify(ctx.Context(), request, w, place{tokens: r.token, raw: takesRaw(ctx.Operation())})
		if sh != nil {
			s.shares.headers(sh, w.Header())
		}
		if sh != nil && err == nil { // A refusal is not counted: who asks too often would never be served again.
			defer s.count(sh, request, recordOf(ctx.Context()))()
		}
		if err == nil {
			ctx = huma.WithContext(ctx, audit.With(ctx.Context(), audit.ActorOf(p, traceID(ctx.Context()))))
		}
		if err == nil && !r.anyone && !slices.ContainsFunc(permissions, p.May) {
			err = s.auditRefusal(ctx.Context(), r.id, p, &tool.Error{
				Kind: tool.Denied, Op: "api.authorize",
				Msg: "this key may not do that: it lacks the permission " + strings.Join(permissions, " or "),
				Err: &tool.PermissionError{Permissions: permissions},
			})
		}
		if err != nil {
			s.refuse(ctx, err)
			return
		}
		recordOf(ctx.Context()).tenant = p.Tenant
		if r, _ := humachi.Unwrap(ctx); !asksForStream(r) {
			end, refused := s.requests.begin(p.Tenant)
			if refused != nil {
				s.refuse(ctx, refused)
				return
			}
			defer end()
		}
		next(huma.WithValue(huma.WithValue(ctx, principalKey{}, p), browserKey{}, request))
	}
}

// count counts what is read of a request from now on. What it returns counts it with the answer.
func (s *server) count(sh *share, r *http.Request, answer *record) func() {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body := &countedBody{ReadCloser: r.Body}
	r.Body = body
	s.shares.open(sh)
	return func() { s.shares.spend(sh, body.read+answer.bytes()) }
}

// place is where a key or token is used: an endpoint of the API, or the MCP server at the address of a
// toolset, or of all tools.
type place struct {
	tokens  bool // A token for one call suffices.
	raw     bool // The body is the content of a file, of any type.
	mcp     bool
	toolset string // Its slug; empty for all tools.
}

// allows refuses a key that is bound to a toolset anywhere but at its address.
func (at place) allows(k store.Key) error {
	switch {
	case k.ToolsetID == "" || at.mcp && at.toolset != "" && at.toolset == k.Toolset:
		return nil
	case at.toolset != "": // Other toolsets are not there.
		return noToolset(at.toolset)
	}
	return &tool.Error{
		Kind: tool.Denied, Op: "api.allows",
		Msg: "this key works for MCP clients at " + mcpserver.ToolsetPath(k.Toolset) + " alone",
	}
}

// admit returns the principal of a request's Authorization, and its share where its key or token is
// valid or was.
func (s *server) admit(ctx context.Context, authorization string, at place) (tool.Principal, *share, error) {
	text, err := bearerOf(authorization)
	switch {
	case err != nil:
		return tool.Principal{}, nil, err
	case strings.HasPrefix(text, v1.SubmitTokenPrefix):
		p, err := s.bearer(ctx, authorization, at)
		return p, nil, err
	case s.cfg.Issuers != nil && identity.IsToken(text):
		person, err := s.person(ctx, text)
		if err != nil {
			return tool.Principal{}, nil, err
		}
		id := sha256.Sum256([]byte(string(person.Tenant) + " " + person.Subject))
		return s.within(ctx, id, func(d store.Draw) (tool.Principal, store.Allowance, error) {
			p, a, err := s.cfg.Store.UseToken(ctx, person, d)
			return p, a, unauthenticatedFor(err)
		})
	}
	var elsewhere error // What the place says is no failure of the question that others wait for.
	p, sh, err := s.within(ctx, sha256.Sum256([]byte(text)), func(d store.Draw) (tool.Principal, store.Allowance, error) {
		key, a, err := s.cfg.Store.UseKey(ctx, text, d)
		if err != nil {
			return tool.Principal{}, a, unauthenticatedFor(err)
		}
		elsewhere = at.allows(key)
		return key.Principal().Narrow(), a, nil
	})
	if err == nil && elsewhere != nil {
		return tool.Principal{}, sh, elsewhere
	}
	return p, sh, err
}

// within authenticates a principal by use, unless it is beyond its limits.
func (s *server) within(
	ctx context.Context, id shareID, use func(store.Draw) (tool.Principal, store.Allowance, error),
) (tool.Principal, *share, error) {
	sh, draw, refused, err := s.shares.begin(ctx, id)
	if err != nil {
		return tool.Principal{}, nil, err
	}
	if refused != nil {
		return tool.Principal{}, sh, refused
	}
	p, a, err := use(draw)
	refused = s.shares.end(id, sh, draw, a, err)
	switch {
	case err != nil:
		return tool.Principal{}, nil, err
	case refused != nil:
		return tool.Principal{}, sh, refused
	}
	return p, sh, nil
}

// bearer is [server.admit] for a request that is not counted.
func (s *server) bearer(ctx context.Context, authorization string, at place) (tool.Principal, error) {
	text, err := bearerOf(authorization)
	if err != nil {
		return tool.Principal{}, err
	}
	switch isToken := strings.HasPrefix(text, v1.SubmitTokenPrefix); {
	case isToken && at.tokens:
		return s.openToken(ctx, text)
	case isToken:
		return tool.Principal{}, unauthenticated("a token only submits the result of one call, to " +
			"/v1/pending-tool-calls/{call}/result: here an API key is required")
	case s.cfg.Issuers != nil && identity.IsToken(text):
		person, err := s.person(ctx, text)
		if err != nil {
			return tool.Principal{}, err
		}
		p, _, err := s.cfg.Store.UseToken(ctx, person, store.Draw{})
		return p, unauthenticatedFor(err)
	}
	key, err := s.cfg.Store.Authenticate(ctx, text)
	if err != nil {
		return tool.Principal{}, unauthenticatedFor(err)
	}
	return key.Principal().Narrow(), at.allows(key)
}

// person verifies a token of an issuer, and finds its tenant.
func (s *server) person(ctx context.Context, text string) (store.TokenUser, error) {
	found, err := s.cfg.Issuers.Verify(ctx, text)
	if err != nil {
		return store.TokenUser{}, unauthenticatedFor(err)
	}
	u := store.TokenUser{Tenant: tool.TenantID(found.Tenant), Subject: found.Subject, Roles: found.Roles}
	if !tool.ValidID(found.Tenant) {
		if u.Tenant, err = s.tenantOf(ctx, found.Tenant); err != nil {
			return store.TokenUser{}, err
		}
	}
	return u, nil
}

// needsKey refuses people with tokens what lasts with the authority of its maker: that of a token ends
// with it, and the platform cannot ask its issuer later.
func needsKey(p tool.Principal, what string) error {
	if !strings.HasPrefix(p.Subject, store.UserSubject) {
		return nil
	}
	return &tool.Error{
		Kind: tool.Denied, Op: "api.needsKey",
		Msg: what + " has the authority of its maker for as long as it lasts, and that of a token ends with the token: use " +
			"an API key, such as one of a service account",
	}
}

// maxTenantNames bounds the slugs of tenants that are kept.
const maxTenantNames = 10_000

// tenantOf returns the id of the tenant with a slug, which never changes.
func (s *server) tenantOf(ctx context.Context, slug string) (tool.TenantID, error) {
	s.tenantsMu.Lock()
	id, known := s.tenants[slug]
	s.tenantsMu.Unlock()
	if known {
		return id, nil
	}
	id, err := s.cfg.Store.TenantOfSlug(ctx, slug)
	if err != nil && tool.KindOf(err) == tool.NotFound {
		return "", unauthenticated("the token is not valid")
	}
	if err != nil {
		return "", err
	}
	s.tenantsMu.Lock()
	defer s.tenantsMu.Unlock()
	if len(s.tenants) >= maxTenantNames {
		clear(s.tenants)
	}
	s.tenants[slug] = id
	return id, nil
}

// bearerOf returns the key or token of an Authorization header.
func bearerOf(authorization string) (string, error) {
	scheme, text, _ := strings.Cut(authorization, " ")
	text = strings.TrimSpace(text)
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return "", unauthenticated("an API key is required: send it as Authorization: Bearer tck_…")
	}
	return text, nil
}

// unauthenticatedFor returns the problem of a key or token that is not accepted, and any other error
// as it is.
func unauthenticatedFor(err error) error {
	if err != nil && tool.KindOf(err) == tool.Denied {
		return unauthenticated(tool.AsError(err).Msg)
	}
	return err
}

func unauthenticated(detail string) *v1.Problem { return refusal(v1.Unauthenticated, detail) }

// refuse answers from a middleware.
func (s *server) refuse(ctx huma.Context, err error) {
	r, w := humachi.Unwrap(ctx)
	writeProblem(w, r, s.problem(r.Context(), ctx.Operation().OperationID, err))
}

package api

import (
	"context"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
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
		p, err := s.authenticate(ctx, r.token)
		if err == nil {
			ctx = huma.WithContext(ctx, audit.With(ctx.Context(), audit.ActorOf(p, traceID(ctx.Context()))))
		}
		if err == nil && !slices.ContainsFunc(permissions, p.May) {
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
		next(huma.WithValue(ctx, principalKey{}, p))
	}
}

// authenticate returns the principal of the request's key, or of a token for one call where
// that is allowed.
func (s *server) authenticate(ctx huma.Context, tokens bool) (tool.Principal, error) {
	return s.bearer(ctx.Context(), ctx.Header("Authorization"), tokens)
}

// bearer is [server.authenticate] for the value of a request's Authorization. A key that is bound to a toolset
// is no key of the API.
func (s *server) bearer(ctx context.Context, authorization string, tokens bool) (tool.Principal, error) {
	text, err := bearerText(authorization)
	if err != nil {
		return tool.Principal{}, err
	}
	if tokens && strings.HasPrefix(text, v1.SubmitTokenPrefix) {
		return s.openToken(ctx, text)
	}
	found, err := s.findKey(ctx, text)
	if err != nil {
		return tool.Principal{}, err
	}
	if found.ToolsetID != "" {
		return tool.Principal{}, &tool.Error{
			Kind: tool.Denied, Op: "api.bearer",
			Msg: "this key works for MCP clients at " + mcpserver.ToolsetPath(found.Toolset) + " alone",
		}
	}
	return found.Principal().Narrow(), nil
}

// bearerText returns what a request's Authorization bears.
func bearerText(authorization string) (string, error) {
	scheme, key, _ := strings.Cut(authorization, " ")
	key = strings.TrimSpace(key)
	if !strings.EqualFold(scheme, "Bearer") || key == "" {
		return "", unauthenticated("an API key is required: send it as Authorization: Bearer tck_…")
	}
	return key, nil
}

// findKey returns the API key of a text.
func (s *server) findKey(ctx context.Context, text string) (store.Key, error) {
	if strings.HasPrefix(text, v1.SubmitTokenPrefix) {
		return store.Key{}, unauthenticated("a token only submits the result of one call, to " +
			"/v1/pending-tool-calls/{call}/result: here an API key is required")
	}
	found, err := s.cfg.Store.Authenticate(ctx, text)
	if tool.KindOf(err) == tool.Denied {
		err = unauthenticated(tool.AsError(err).Msg)
	}
	return found, err
}

func unauthenticated(detail string) *v1.Problem { return refusal(v1.Unauthenticated, detail) }

// refuse answers from a middleware.
func (s *server) refuse(ctx huma.Context, err error) {
	r, w := humachi.Unwrap(ctx)
	writeProblem(w, r, s.problem(r.Context(), ctx.Operation().OperationID, err))
}

package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// SessionPath names the session of a browser in a path. It is exported as [Paging] is.
type SessionPath struct {
	ID string `path:"session" maxLength:"64" doc:"Id"`
}

type sessionInput struct{ SessionPath }

type ownSessionsInput struct{ Paging }

type sessionsInput struct {
	Paging
	Subject string `query:"subject" maxLength:"400" doc:"Those of this key or person alone" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d2"`
}

// registerBrowserSessions adds the endpoints at which people see the browsers that are signed in.
func (s *server) registerBrowserSessions() {
	handle(s, route{
		id: "listOwnSessions", method: http.MethodGet, path: "/v1/me/sessions", tag: "sessions", anyone: true,
		summary: "List the browsers that you are signed in with, the newest session first",
		detail:  "Those of the tenant that began with your key, or with tokens of yours.",
	}, s.listOwnSessions)
	handle(s, route{
		id: "endOwnSession", method: http.MethodDelete, path: "/v1/me/sessions/{session}", tag: "sessions", anyone: true,
		summary: "End the session of a browser of yours",
		detail:  "With this tenant alone: in others the browser stays signed in. Streams that it follows end.",
	}, s.endOwnSession)
	handle(s, route{
		id: "endOtherSessions", method: http.MethodDelete, path: "/v1/me/sessions", tag: "sessions", anyone: true,
		summary: "End the sessions of all your browsers but this one",
		detail:  "Those of the tenant. Asked with a key, all end that began with it.",
	}, s.endOtherSessions)
	handle(s, route{
		id: "listSessions", method: http.MethodGet, path: "/v1/sessions", tag: "sessions", permission: KeysRead,
		summary: "List the browsers that are signed in to the tenant, the newest session first",
	}, s.listSessions)
	handle(s, route{
		id: "endSessionOf", method: http.MethodDelete, path: "/v1/sessions/{session}", tag: "sessions",
		permission: KeysWrite, summary: "End the session of a browser",
		detail: "Its key or person may sign in again: revoke the key to prevent that, which ends its sessions too.",
	}, s.endSessionOf)
}

func (s *server) listOwnSessions(
	ctx context.Context, p tool.Principal, in *ownSessionsInput,
) (*listed[v1.BrowserSession], error) {
	return s.sessionsOf(ctx, p, in.Paging, p.Subject)
}

func (s *server) listSessions(
	ctx context.Context, p tool.Principal, in *sessionsInput,
) (*listed[v1.BrowserSession], error) {
	return s.sessionsOf(ctx, p, in.Paging, in.Subject)
}

func (s *server) sessionsOf(
	ctx context.Context, p tool.Principal, in Paging, subject string,
) (*listed[v1.BrowserSession], error) {
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListWebSessions(ctx, p.Tenant, store.SessionQuery{
		Subject: subject, Current: s.browserOf(httpRequestOf(ctx)), Before: before, Limit: in.fetch(),
	})
	if err != nil {
		return nil, err
	}
	return answer(page(in, found, func(w store.ListedSession) v1.BrowserSession {
		return v1.BrowserSession(w)
	}, func(w store.ListedSession) string { return w.ID })), nil
}

func (s *server) endOwnSession(ctx context.Context, p tool.Principal, in *sessionInput) (*struct{}, error) {
	return s.endNamedSession(ctx, p, in.ID, p.Subject)
}

func (s *server) endSessionOf(ctx context.Context, p tool.Principal, in *sessionInput) (*struct{}, error) {
	return s.endNamedSession(ctx, p, in.ID, "")
}

func (s *server) endNamedSession(ctx context.Context, p tool.Principal, id, subject string) (*struct{}, error) {
	browser, err := s.cfg.Store.EndWebSession(ctx, p.Tenant, id, subject)
	if err != nil {
		return nil, err
	}
	s.connections.left(browser)
	return nil, nil //nolint:nilnil // Answered without a body.
}

func (s *server) endOtherSessions(
	ctx context.Context, p tool.Principal, _ *struct{},
) (*body[v1.EndedSessions], error) {
	browsers, err := s.cfg.Store.EndOtherWebSessions(ctx, p.Tenant, p.Subject, s.browserOf(httpRequestOf(ctx)))
	if err != nil {
		return nil, err
	}
	for _, browser := range browsers {
		s.connections.left(browser)
	}
	return answer(v1.EndedSessions{Ended: len(browsers)}), nil
}

package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/sessions"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

// ToolSessionPath names the tool session of a path. It is exported as [Paging] is.
type ToolSessionPath struct {
	ID string `path:"session" maxLength:"64" doc:"Id" example:"01975c2e-7d1a-7c3e-9f00-0000000000ea"`
}

type toolSessionInput struct{ ToolSessionPath }

type listToolSessionsInput struct {
	Paging
	Tool   string `query:"tool" maxLength:"64" doc:"Only sessions of this tool, by slug or id"`
	Status string `query:"status" enum:",active,completed,cancelled" doc:"Only sessions in this state"`
}

type linkToolSessionInput struct {
	ToolSessionPath
	Body *v1.NewToolSessionLink
}

type listSubmissionsInput struct {
	ToolSessionPath
	Paging
}

type submitToSessionInput struct {
	ToolSessionPath
	Body v1.NewToolSubmission
}

type toolSessionOutput struct {
	Location string `header:"Location"`
	Body     v1.ToolSession
}

func (s *server) registerToolSessions() {
	handle(s, route{
		id: "createToolSession", method: http.MethodPost, path: "/v1/tool-sessions", tag: "tool sessions",
		permission: RunsWrite, status: http.StatusCreated, summary: "Make a tool session",
		detail: "Several people submit inputs to one version of a tool with `collaborative: true`, and the results are " +
			"joined as its `aggregate` says.",
	}, s.createToolSession)
	handle(s, route{
		id: "listToolSessions", method: http.MethodGet, path: "/v1/tool-sessions", tag: "tool sessions",
		permission: RunsRead, summary: "List tool sessions, newest first",
	}, s.listToolSessions)
	handle(s, route{
		id: "getToolSession", method: http.MethodGet, path: "/v1/tool-sessions/{session}", tag: "tool sessions",
		permission: RunsRead, summary: "Get a tool session",
	}, s.getToolSession)
	for _, end := range []struct {
		id, word, summary string
		as                toolsession.Status
	}{
		{"completeToolSession", "complete", "Complete a tool session", toolsession.Completed},
		{"cancelToolSession", "cancel", "Cancel a tool session", toolsession.Cancelled},
	} {
		handle(s, route{
			id: end.id, method: http.MethodPost, path: "/v1/tool-sessions/{session}/" + end.word, tag: "tool sessions",
			permission: RunsWrite, summary: end.summary,
			detail: "It takes no submissions any more, and its link opens nothing. Calls that have begun go on.",
		}, func(ctx context.Context, p tool.Principal, in *toolSessionInput) (*body[v1.ToolSession], error) {
			ended, err := s.cfg.Store.EndToolSession(ctx, p.Tenant, in.ID, end.as, p.Subject)
			if err != nil {
				return nil, err
			}
			return answer(v1.FromToolSession(ended)), nil
		})
	}
	s.registerToolSessionLinks()
	s.registerToolSubmissions()
}

func (s *server) registerToolSessionLinks() {
	handle(s, route{
		id: "linkToolSession", method: http.MethodPost, path: "/v1/tool-sessions/{session}/link", tag: "tool sessions",
		permission: ViewsWrite, secret: true, summary: "Give a tool session a link, or another one",
		detail: "Everyone who has the link can submit on its page without a login, with the permission that the tool asked " +
			"for when the session was made, which the caller needs too. The link that it had opens nothing any more. A tool " +
			"whose calls need an approval gets none, nor does a form that asks for passwords. The tenant's switch for " +
			"publishing has to be on. Only this response has the link.",
	}, s.linkToolSession)
	handle(s, route{
		id: "unlinkToolSession", method: http.MethodDelete, path: "/v1/tool-sessions/{session}/link",
		tag: "tool sessions", permission: ViewsWrite, summary: "Revoke the link of a tool session",
		detail: "Doing so again changes nothing.",
	}, s.unlinkToolSession)
}

func (s *server) registerToolSubmissions() {
	handle(s, route{
		id: "listToolSubmissions", method: http.MethodGet, path: "/v1/tool-sessions/{session}/submissions",
		tag: "tool sessions", permission: RunsRead, summary: "List the submissions of a tool session, newest first",
		detail: "What came by the link is `untrusted`: it is data, not instructions.",
	}, s.listToolSubmissions)
	handle(s, route{
		id: "submitToToolSession", method: http.MethodPost, path: "/v1/tool-sessions/{session}/submissions",
		tag: "tool sessions", permission: RunsWrite, status: http.StatusCreated, summary: "Submit to a tool session",
		detail: "Calls the session's version of the tool, with what the session fixes, as this key may. The answer waits " +
			"for the end of the call, at most for `wait_s`.",
	}, s.submitToToolSession)
	handle(s, route{
		id: "getToolSessionAggregate", method: http.MethodGet, path: "/v1/tool-sessions/{session}/aggregate",
		tag: "tool sessions", permission: RunsRead, summary: "Get what the submissions of a tool session come to",
		detail: "Of those that ended with a result. Where a tool joins them, this counts them, and does not call it.",
	}, s.getToolSessionAggregate)
	handle(s, route{
		id: "joinToolSession", method: http.MethodPost, path: "/v1/tool-sessions/{session}/aggregate",
		tag: "tool sessions", permission: RunsWrite, summary: "Have a tool join the submissions of a tool session",
		detail: "Calls the tool that `aggregate` names with `session` and `submissions`, as this key may, and waits for at " +
			"most 30 seconds. Asked again, with no other submissions, it is the same call. Other aggregates are computed as " +
			"getToolSessionAggregate does.",
	}, s.joinToolSession)
}

func (s *server) createToolSession(
	ctx context.Context, p tool.Principal, in *body[v1.NewToolSession],
) (*toolSessionOutput, error) {
	made, err := s.sessions.Create(ctx, sessions.Request{
		Principal: p, Tool: refOf(in.Body.Tool, ""), Title: in.Body.Title, Entities: in.Body.EntityIDs,
		Config: in.Body.Config,
	})
	if err != nil {
		return nil, err
	}
	return &toolSessionOutput{Location: "/v1/tool-sessions/" + made.ID, Body: v1.FromToolSession(made)}, nil
}

func (s *server) listToolSessions(
	ctx context.Context, p tool.Principal, in *listToolSessionsInput,
) (*listed[v1.ToolSession], error) {
	q := toolsession.Query{Tenant: p.Tenant, Status: toolsession.Status(in.Status), Limit: in.fetch()}
	var err error
	if q.Before, err = in.before(); err != nil {
		return nil, err
	}
	if in.Tool != "" {
		t, err := s.findTool(ctx, p, in.Tool)
		if err != nil {
			return nil, err
		}
		q.ToolID = t.ID
	}
	found, err := s.cfg.Store.ListToolSessions(ctx, q)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromToolSession, func(t toolsession.Session) string { return t.ID })), nil
}

func (s *server) getToolSession(
	ctx context.Context, p tool.Principal, in *toolSessionInput,
) (*body[v1.ToolSession], error) {
	found, err := s.cfg.Store.FindToolSession(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromToolSession(found)), nil
}

func (s *server) linkToolSession(
	ctx context.Context, p tool.Principal, in *linkToolSessionInput,
) (*body[v1.LinkedToolSession], error) {
	var keep time.Duration
	if in.Body != nil {
		keep = time.Duration(in.Body.ExpiresIn) * time.Second
	}
	linked, err := s.sessions.Link(ctx, p, in.ID, keep)
	if err != nil {
		return nil, err
	}
	return answer(v1.LinkedToolSession{
		ToolSession: v1.FromToolSession(linked.Session), Token: linked.Token,
		URL: strings.TrimSuffix(s.cfg.PublicURL, "/") + linked.Path(),
	}), nil
}

func (s *server) unlinkToolSession(
	ctx context.Context, p tool.Principal, in *toolSessionInput,
) (*body[v1.ToolSession], error) {
	found, err := s.cfg.Store.UnlinkToolSession(ctx, p.Tenant, in.ID, p.Subject)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromToolSession(found)), nil
}

// submission masks what the tenant masks.
func (m mask) submission(b toolsession.Submission) v1.ToolSubmission {
	shown := v1.FromToolSubmission(b)
	shown.Input, shown.Output = m.json(shown.Input), m.json(shown.Output)
	shown.Error, shown.Guest = m.text(shown.Error), m.text(shown.Guest)
	return shown
}

func (s *server) listToolSubmissions(
	ctx context.Context, p tool.Principal, in *listSubmissionsInput,
) (*listed[v1.ToolSubmission], error) {
	session, err := s.cfg.Store.FindToolSession(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	q := toolsession.SubmissionQuery{Tenant: p.Tenant, SessionID: session.ID, Limit: in.fetch()}
	if q.Before, err = in.before(); err != nil {
		return nil, err
	}
	found, err := s.sessions.List(ctx, q)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, shown.submission, func(b toolsession.Submission) string { return b.ID })), nil
}

func (s *server) submitToToolSession(
	ctx context.Context, p tool.Principal, in *submitToSessionInput,
) (*body[v1.ToolSubmission], error) {
	session, err := s.cfg.Store.FindToolSession(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	request := requestOf(ctx)
	made, _, err := s.sessions.Submit(ctx, sessions.Input{
		Session: &session, Principal: &p, Nonce: request.ID, Input: in.Body.Input, Request: request,
	}, waitOf(in.Body.WaitS))
	if err != nil {
		return nil, err
	}
	return answer(s.changedMask(ctx, p.Tenant).submission(made)), nil
}

func (s *server) getToolSessionAggregate(
	ctx context.Context, p tool.Principal, in *toolSessionInput,
) (*body[v1.ToolSessionAggregate], error) {
	return s.aggregate(ctx, p, in.ID, 0)
}

func (s *server) joinToolSession(
	ctx context.Context, p tool.Principal, in *toolSessionInput,
) (*body[v1.ToolSessionAggregate], error) {
	return s.aggregate(ctx, p, in.ID, defaultWait)
}

func (s *server) aggregate(
	ctx context.Context, p tool.Principal, id string, wait time.Duration,
) (*body[v1.ToolSessionAggregate], error) {
	session, err := s.cfg.Store.FindToolSession(ctx, p.Tenant, id)
	if err != nil {
		return nil, err
	}
	joined, called, err := s.sessions.Aggregate(ctx, p, &session, wait)
	if err != nil {
		return nil, err
	}
	shown := s.changedMask(ctx, p.Tenant)
	out := v1.ToolSessionAggregate{Joined: joined}
	for i := range out.Groups { // People wrote them.
		out.Groups[i].Value = shown.text(out.Groups[i].Value)
	}
	if called != nil {
		out.Tool, out.RunID, out.Output = called.Tool, called.RunID, shown.json(called.Output)
	}
	return answer(out), nil
}

package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

type inputRequestInput struct {
	ID string `path:"view" maxLength:"64"`
}

type inputLinkInput struct {
	ID   string `path:"view" maxLength:"64"`
	Body v1.NewInputLink
}

type listInputRequestsInput struct {
	Status string `query:"status" enum:"open,waiting,pending,resolved,expired,cancelled" doc:"open: waiting or pending"`
	Run    string `query:"run" maxLength:"64" doc:"Id of the run, or of the outermost run, that asks"`
	Order  string `query:"order" enum:"newest,oldest" default:"newest" doc:"Which come first"`
	Paging
}

func (s *server) registerInputRequests() {
	handle(s, route{
		id: "listInputRequests", method: http.MethodGet, path: "/v1/input-requests", tag: "results",
		permission: ResultsSubmit,
		summary:    "List requests for people's input, newest first",
		detail:     "Those that take an answer have the status open. The event tool.pending tells of each.",
	}, s.listInputRequests)
	handle(s, route{
		id: "getInputRequest", method: http.MethodGet, path: "/v1/input-requests/{view}", tag: "results",
		permission: ResultsSubmit,
		summary:    "Get a request for input, and its answer",
		detail: "Its id is that of the call's invocation. An answer is submitted as the result of that call, or on " +
			"its page.",
	}, s.getInputRequest)
	handle(s, route{
		id: "createInputLink", method: http.MethodPost, path: "/v1/input-requests/{view}/link", tag: "results",
		permission: ResultsSubmit, secret: true,
		summary: "Get a link to the page of a request for input",
		detail: "For a person without an account: who has the link can see the request and answer it, once. Each link is " +
			"good until it expires, the request is over, or links are revoked.",
	}, s.createInputLink)
	handle(s, route{
		id: "revokeInputLinks", method: http.MethodPost, path: "/v1/input-requests/{view}/revoke", tag: "results",
		permission: ResultsSubmit,
		summary:    "Revoke all links and tokens of a request for input",
		detail:     "The request stays open: make a new link for it, or submit the answer with a key.",
	}, s.revokeInputLinks)
}

func (s *server) listInputRequests(
	ctx context.Context, p tool.Principal, in *listInputRequestsInput,
) (*listed[v1.InputRequest], error) {
	q := wait.CallQuery{
		Tenant: p.Tenant, Status: wait.CallStatus(in.Status), Of: tool.Input, Limit: in.fetch(),
		Oldest: in.Order == oldestFirst,
	}
	var err error
	if q.Before, err = in.before(); err != nil {
		return nil, err
	}
	if in.Run != "" {
		run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.Run)
		if err != nil {
			return nil, err
		}
		q.RunID = run.ID
	}
	found, err := s.cfg.Store.ListCalls(ctx, q)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromInputRequest, func(c wait.Call) string { return c.ID })), nil
}

// findInput finds a call that asks a person. Other calls are not found: what opens a page must
// never open an approval, or a call of another kind.
func (s *server) findInput(ctx context.Context, p tool.Principal, id string) (wait.Call, error) {
	found, err := s.cfg.Store.FindCall(ctx, p.Tenant, id)
	if tool.KindOf(err) == tool.NotFound || err == nil && found.Implementation != tool.Input {
		return wait.Call{}, &tool.Error{Kind: tool.NotFound, Op: "api.findInput", Msg: "request for input not found"}
	}
	return found, err
}

func (s *server) getInputRequest(
	ctx context.Context, p tool.Principal, in *inputRequestInput,
) (*body[v1.InputRequest], error) {
	found, err := s.findInput(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromInputRequest(found)), nil
}

func (s *server) createInputLink(
	ctx context.Context, p tool.Principal, in *inputLinkInput,
) (*body[v1.InputLink], error) {
	found, err := s.findInput(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	if !found.Status.Open() {
		return nil, &tool.Error{
			Kind: tool.Conflict, Op: "api.createInputLink", Msg: "the request takes no answer: it is " + string(found.Status),
		}
	}
	link, err := s.inputLink(&found, time.Duration(in.Body.ExpiresS)*time.Second)
	if err != nil {
		return nil, err
	}
	return answer(link), nil
}

// inputLink makes a link to the page of a request for input.
func (s *server) inputLink(c *wait.Call, good time.Duration) (v1.InputLink, error) {
	expires := time.Now().Add(good)
	if expires.After(c.ExpiresAt) {
		expires = c.ExpiresAt
	}
	path, err := input.Link(c, expires)
	return v1.InputLink{
		ShareURL: strings.TrimSuffix(s.cfg.PublicURL, "/") + path, ViewID: c.ID, ExpiresAt: expires.Truncate(time.Second),
	}, err
}

// linkGood is for how long links are good that are handed on with a run.
const linkGood = 24 * time.Hour

// asks returns what a run asks people, with links for those who may answer themselves: whoever
// has a link can answer. Approvals are none of it.
func (s *server) asks(ctx context.Context, p tool.Principal, run agent.Run) ([]v1.InputWait, error) {
	if run.Status.Final() {
		return nil, nil
	}
	found, err := s.cfg.Store.ListCalls(ctx, wait.CallQuery{
		Tenant: run.Tenant, RunID: run.ID, Status: wait.CallsOpen, Of: tool.Input, Limit: maxWaits,
	})
	if err != nil {
		return nil, err
	}
	var out []v1.InputWait
	for i := range found {
		shown := v1.FromInputRequest(found[i])
		asked := v1.InputWait{Kind: shown.Kind, ViewID: shown.ViewID, Title: shown.Title}
		if p.May(ResultsSubmit) {
			link, err := s.inputLink(&found[i], linkGood)
			if err != nil {
				return nil, err
			}
			asked.ShareURL, asked.ExpiresAt = link.ShareURL, &link.ExpiresAt
		}
		out = append(out, asked)
	}
	return out, nil
}

func (s *server) revokeInputLinks(
	ctx context.Context, p tool.Principal, in *inputRequestInput,
) (*body[v1.InputRequest], error) {
	found, err := s.findInput(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Store.RevokeTokens(ctx, p.Tenant, found.ID); err != nil {
		return nil, err
	}
	return answer(v1.FromInputRequest(found)), nil
}

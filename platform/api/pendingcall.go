package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

type pendingCallInput struct {
	ID string `path:"call" maxLength:"64"`
}

type submitInput struct {
	ID   string `path:"call" maxLength:"64"`
	Body v1.NewResult
}

type submitToRunInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body v1.NewRunResult
}

type submitTokenInput struct {
	ID   string `path:"call" maxLength:"64"`
	Body v1.NewSubmitToken
}

type listPendingCallsInput struct {
	Status string   `query:"status" enum:"open,waiting,pending,resolved,expired,cancelled" doc:"open: waiting or pending"`
	Run    string   `query:"run" maxLength:"64" doc:"Id of the run, or of the outermost run, that made the call"`
	Tools  []string `query:"tool,explode" maxItems:"100" doc:"Slug; repeat it for several"`
	CallID string   `query:"call_id" maxLength:"200" doc:"As the caller named the call"`
	Order  string   `query:"order" enum:"newest,oldest" default:"newest" doc:"Which come first"`
	Paging
}

// watchCallsInput is the input of a watch.
type watchCallsInput struct {
	Tools []string `query:"tool,explode" maxItems:"100" doc:"Slug; repeat it for several. All tools when absent"`
	Seen  string   `query:"seen" maxLength:"64" doc:"Of the last answer: nothing is answered while the calls are still those"`
	WaitS int      `query:"wait_s" minimum:"0" maximum:"25" default:"20" doc:"For how long at most"`
}

// maxOpenCalls bounds the calls that a watch answers with.
const maxOpenCalls = 200

func (s *server) registerPendingCalls() {
	const once = "A call keeps its first result: submitting again answers with that, and changes nothing. A result that " +
		"the tool's output schema refuses is invalid (422), and may be submitted anew. A call that has ended otherwise is " +
		"a conflict (409). A result that comes after its time goes to the inbox of the run."
	handle(s, route{
		id: "listPendingCalls", method: http.MethodGet, path: "/v1/pending-tool-calls", tag: "results",
		permission: ResultsSubmit,
		summary:    "List calls that are answered from outside, newest first",
		detail:     "Those that take a result have the status open. The event tool.pending tells of each.",
	}, s.listPendingCalls)
	handle(s, route{
		id: "watchOpenCalls", method: http.MethodGet, path: "/v1/open-tool-calls", tag: "results",
		permission: ResultsSubmit,
		summary:    "Watch the calls that take a result",
		detail: "For programs that answer calls: returns the newest 200 that are open, at once, or when they are others " +
			"than those `seen`, or after `wait_s`. Ask again with the `seen` of the answer.",
	}, s.watchCalls)
	handle(s, route{
		id: "getPendingCall", method: http.MethodGet, path: "/v1/pending-tool-calls/{call}", tag: "results",
		permission: ResultsSubmit, token: true,
		summary: "Get a call that is answered from outside", detail: "Its id is that of the call's invocation.",
	}, s.getPendingCall)
	handle(s, route{
		id: "submitResult", method: http.MethodPost, path: "/v1/pending-tool-calls/{call}/result", tag: "results",
		permission: ResultsSubmit, token: true, summary: "Submit the result of a call", detail: once,
	}, s.submitResult)
	handle(s, route{
		id: "submitRunResult", method: http.MethodPost, path: "/v1/runs/{id}/tool-results", tag: "results",
		permission: ResultsSubmit,
		summary:    "Submit the result of a call of a run, by its call id", detail: once,
	}, s.submitRunResult)
	handle(s, route{
		id: "createSubmitToken", method: http.MethodPost, path: "/v1/pending-tool-calls/{call}/token", tag: "results",
		permission: ResultsSubmit, secret: true,
		summary: "Get a token that may submit the result of one call",
		detail: "For a browser, which has no key: it may see the call, and submit its result once. A token does not make " +
			"another.",
	}, s.createSubmitToken)
}

func (s *server) listPendingCalls(
	ctx context.Context, p tool.Principal, in *listPendingCallsInput,
) (*listed[v1.PendingCall], error) {
	q := wait.CallQuery{
		Tenant: p.Tenant, Status: wait.CallStatus(in.Status), Tools: in.Tools, CallID: in.CallID, Limit: in.fetch(),
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
	return answer(page(in.Paging, found, v1.FromCall, func(c wait.Call) string { return c.ID })), nil
}

// The longest wait of a watch, and the shortest time between its reads: the runs of a tenant
// have more news than those of open calls.
const (
	maxWatch  = 25 * time.Second
	watchRest = 100 * time.Millisecond
)

// watchCalls answers with the open calls once they are others than those seen.
func (s *server) watchCalls(
	ctx context.Context, p tool.Principal, in *watchCallsInput,
) (*body[v1.OpenCalls], error) {
	q := wait.CallQuery{Tenant: p.Tenant, Status: wait.CallsOpen, Tools: in.Tools, Limit: maxOpenCalls}
	news, leave := s.hub.Subscribe(ctx, p.Tenant, "")
	defer leave()
	over := time.NewTimer(min(time.Duration(in.WaitS)*time.Second, maxWatch))
	defer over.Stop()
	for {
		changed := news()
		found, err := s.cfg.Store.ListCalls(ctx, q)
		if err != nil {
			return nil, err
		}
		out := v1.OpenCalls{Items: []v1.PendingCall{}, Seen: digestOf(found)}
		for _, c := range found {
			out.Items = append(out.Items, v1.FromCall(c))
		}
		if in.WaitS == 0 || out.Seen != in.Seen {
			return answer(out), nil
		}
		select {
		case <-ctx.Done(): // The time of the request may be shorter than the wait.
			return answer(out), nil
		case <-stopping(ctx):
			return answer(out), nil
		case <-over.C:
			return answer(out), nil
		case <-changed:
		}
		select {
		case <-ctx.Done():
			return answer(out), nil
		case <-time.After(watchRest):
		}
	}
}

// digestOf identifies a list of calls, and how each stands.
func digestOf(calls []wait.Call) string {
	h := sha256.New()
	for _, c := range calls {
		_, _ = io.WriteString(h, c.ID+" "+string(c.Status)+"\n")
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (s *server) getPendingCall(
	ctx context.Context, p tool.Principal, in *pendingCallInput,
) (*body[v1.PendingCall], error) {
	if err := mayAnswer(p, in.ID); err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.FindCall(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromCall(found)), nil
}

func (s *server) submitResult(ctx context.Context, p tool.Principal, in *submitInput) (*body[v1.Submitted], error) {
	if err := mayAnswer(p, in.ID); err != nil {
		return nil, err
	}
	return s.submit(ctx, runs.Submission{Principal: p, ID: in.ID, Result: in.Body.Result, IsError: in.Body.IsError})
}

func (s *server) submitRunResult(
	ctx context.Context, p tool.Principal, in *submitToRunInput,
) (*body[v1.Submitted], error) {
	named := in.Body.CallID
	if other := in.Body.CamelCallID; named != "" && other != "" && other != named {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.submitRunResult", Path: "/callId",
			Msg: "it is not the same as call_id: give one of them",
		}
	}
	return s.submit(ctx, runs.Submission{
		Principal: p, RunID: in.ID, CallID: cmp.Or(named, in.Body.CamelCallID), Result: in.Body.Result,
		IsError: in.Body.IsError,
	})
}

func (s *server) submit(ctx context.Context, sub runs.Submission) (*body[v1.Submitted], error) {
	done, err := s.runs.SubmitResult(ctx, sub)
	if err != nil {
		return nil, err
	}
	return answer(v1.Submitted{PendingCall: v1.FromCall(done.Call), Repeated: done.Repeated}), nil
}

func (s *server) createSubmitToken(
	ctx context.Context, p tool.Principal, in *submitTokenInput,
) (*body[v1.SubmitToken], error) {
	found, err := s.cfg.Store.FindCall(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if !found.Status.Open() {
		return nil, &tool.Error{
			Kind: tool.Conflict, Op: "api.createSubmitToken", Msg: "the call takes no result: it is " + string(found.Status),
		}
	}
	expires := time.Now().Add(time.Duration(in.Body.ExpiresS) * time.Second)
	if expires.After(found.ExpiresAt) {
		expires = found.ExpiresAt
	}
	return answer(v1.SubmitToken{Token: newSubmitToken(found, expires), ExpiresAt: expires}), nil
}

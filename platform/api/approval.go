package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/manage"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

type approvalInput struct {
	ID string `path:"approval" maxLength:"64"`
}

type approveCallInput struct {
	ID   string `path:"approval" maxLength:"64"`
	Body v1.Approve
}

type rejectCallInput struct {
	ID   string `path:"approval" maxLength:"64"`
	Body v1.Reject
}

type listApprovalsInput struct {
	Status string `query:"status" enum:"pending,approved,rejected,expired,cancelled"`
	Run    string `query:"run" maxLength:"64" doc:"Id of the run, or of the outermost run, that waits"`
	Batch  string `query:"batch" maxLength:"64" doc:"Batch of a request: those of the calls of one turn. Not with run"`
	Tool   string `query:"tool" maxLength:"64" doc:"Slug"`
	Mine   bool   `query:"decidable" doc:"Only those that who asks may decide now: pages may be shorter than the limit"`
	Order  string `query:"order" enum:"newest,oldest" default:"newest" doc:"Which come first"`
	Paging
}

func (s *server) registerApprovals() {
	const decides = "The key needs the request's permission (approvals.decide, unless the tool asks for another; " +
		"that of escalate_to too once the request has escalated), " +
		"beside approvals.read. Who started the run never decides (403). A request that is over, or asks for something " +
		"else than was seen, is a conflict (409). The same decision, sent again, changes nothing."
	handle(s, route{
		id: "listApprovals", method: http.MethodGet, path: "/v1/approvals", tag: "approvals", permission: ApprovalsRead,
		summary: "List requests for approval, newest first",
		detail: "Those that wait have the status pending. Of each, decidable and because " +
			"say whether who asks may decide it.",
	}, s.listApprovals)
	handle(s, route{
		id: "getApproval", method: http.MethodGet, path: "/v1/approvals/{approval}", tag: "approvals",
		permission: ApprovalsRead,
		summary:    "Get a request for approval",
		detail: "Its id is that of the call's invocation. While a call of manageTools waits, change has what it will " +
			"change; the binding covers the arguments, which name the revision of the tool.",
	}, s.getApproval)
	handle(s, route{
		id: "approve", method: http.MethodPost, path: "/v1/approvals/{approval}/approve", tag: "approvals",
		permission: ApprovalsRead,
		summary:    "Approve a call", detail: "As it is, or with other arguments. " + decides,
	}, s.approve)
	handle(s, route{
		id: "reject", method: http.MethodPost, path: "/v1/approvals/{approval}/reject", tag: "approvals",
		permission: ApprovalsRead,
		summary:    "Reject a call", detail: "The model gets the reason, and the run goes on. " + decides,
	}, s.reject)
	handle(s, route{
		id: "decideApprovals", method: http.MethodPost, path: "/v1/approvals/decide", tag: "approvals",
		permission: ApprovalsRead,
		summary:    "Decide several requests",
		detail:     "Each on its own, in no order: one that fails leaves the others. " + decides,
	}, s.decideApprovals)
}

func (s *server) listApprovals(
	ctx context.Context, p tool.Principal, in *listApprovalsInput,
) (*listed[v1.Approval], error) {
	q := wait.Query{
		Tenant: p.Tenant, Status: wait.Status(in.Status), Tool: in.Tool, Limit: in.fetch(),
		Oldest: in.Order == oldestFirst,
	}
	var err error
	if q.Before, err = in.before(); err != nil {
		return nil, err
	}
	if in.Batch != "" {
		batch, err := wait.ParseBatch(in.Batch)
		switch {
		case err != nil:
			return nil, &tool.Error{Kind: tool.Invalid, Op: "api.listApprovals", Path: "/batch", Msg: err.Error()}
		case in.Run != "":
			return nil, &tool.Error{
				Kind: tool.Invalid, Op: "api.listApprovals", Path: "/batch", Msg: "a batch is of one run: leave run out",
			}
		}
		if _, err := s.cfg.Store.FindRun(ctx, p.Tenant, batch.RunID); err != nil {
			return nil, err
		}
		q.Batch = &batch
	}
	if in.Run != "" {
		run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.Run)
		if err != nil {
			return nil, err
		}
		q.RunID = run.ID
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := v1.Page[v1.Approval]{Items: []v1.Approval{}}
	for range maxPagesRead { // Those that who asks may decide may be far between.
		found, err := s.cfg.Store.ListApprovals(ctx, q)
		if err != nil {
			return nil, err
		}
		read := page(in.Paging, found, shown.approval, func(a wait.Approval) string { return a.ID })
		if err := s.mayDecide(ctx, p, found[:len(read.Items)], read.Items); err != nil {
			return nil, err
		}
		for _, a := range read.Items {
			if !in.Mine || a.Decidable {
				out.Items = append(out.Items, a)
			}
		}
		out.Next = read.Next
		if len(out.Items) > 0 || read.Next == "" {
			break
		}
		q.Before = found[len(read.Items)-1].ID
	}
	return answer(out), nil
}

// maxPagesRead bounds the pages of which a list of what one may decide makes one.
const maxPagesRead = 5

// oldestFirst is the order of lists of what waits that begins with the oldest.
const oldestFirst = "oldest"

// mayDecide sets of each request whether a principal may decide it, and why not.
func (s *server) mayDecide(ctx context.Context, p tool.Principal, asked []wait.Approval, shown []v1.Approval) error {
	refusals, err := s.cfg.Store.MayDecide(ctx, p, asked)
	if err != nil {
		return fmt.Errorf("checking who may decide: %w", err)
	}
	for i := range shown {
		if refusal := refusals[i]; refusal != nil {
			shown[i].Because = tool.AsError(refusal).Msg
		} else {
			shown[i].Decidable = true
		}
	}
	return nil
}

func (s *server) getApproval(ctx context.Context, p tool.Principal, in *approvalInput) (*body[v1.Approval], error) {
	found, err := s.cfg.Store.FindApproval(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := shown.approval(found)
	if out.Change, err = s.changeOf(ctx, &found); err != nil {
		return nil, err
	}
	shownOne := []v1.Approval{out}
	if err := s.mayDecide(ctx, p, []wait.Approval{found}, shownOne); err != nil {
		return nil, err
	}
	return answer(shownOne[0]), nil
}

// changeOf returns what a pending call of manageTools changes; nil for any other call.
func (s *server) changeOf(ctx context.Context, a *wait.Approval) (*v1.ToolChange, error) {
	if a.Tool != manage.Builtin || a.Status != wait.Pending {
		return nil, nil //nolint:nilnil // There is nothing to show.
	}
	call, err := s.cfg.Store.FindInvocation(ctx, a.Tenant, a.ID)
	if err != nil {
		return nil, err
	}
	of, err := s.cfg.Store.FindTool(ctx, a.Tenant, tool.Ref{ID: call.ToolID})
	if tool.KindOf(err) == tool.NotFound || err == nil && of.BuiltinKey != manage.Builtin {
		return nil, nil //nolint:nilnil // The tenant has another tool of this name.
	}
	if err != nil {
		return nil, err
	}
	arguments := a.Arguments
	if len(a.Edited) > 0 {
		arguments = a.Edited
	}
	preview, err := manage.New(s.cfg.Registry, nil).Preview(ctx, a.Tenant, arguments)
	if err != nil {
		return nil, fmt.Errorf("previewing the change: %w", err)
	}
	return v1.FromPreview(preview), nil
}

func (s *server) approve(ctx context.Context, p tool.Principal, in *approveCallInput) (*body[v1.Approval], error) {
	return s.decide(ctx, p, v1.DecideOne{
		ID: in.ID, Approve: true, Reason: in.Body.Reason, Arguments: in.Body.Arguments, Seen: in.Body.Seen,
	})
}

func (s *server) reject(ctx context.Context, p tool.Principal, in *rejectCallInput) (*body[v1.Approval], error) {
	return s.decide(ctx, p, v1.DecideOne{ID: in.ID, Reason: in.Body.Reason, Seen: in.Body.Seen})
}

func (s *server) decide(ctx context.Context, p tool.Principal, d v1.DecideOne) (*body[v1.Approval], error) {
	decided, err := s.runs.Decide(ctx, runs.Decision{
		Principal: p, ID: d.ID, Approve: d.Approve, Reason: d.Reason, Arguments: given(d.Arguments), Seen: d.Seen,
	})
	if err != nil {
		return nil, err
	}
	shown := []v1.Approval{s.changedMask(ctx, p.Tenant).approval(decided)}
	if err := s.mayDecide(ctx, p, []wait.Approval{decided}, shown); err != nil {
		s.cfg.Logger.WarnContext(ctx, "it is not known who may decide", slog.Any("error", err)) // The decision is made.
	}
	return answer(shown[0]), nil
}

// given returns nil for arguments that are null.
func given(arguments json.RawMessage) json.RawMessage {
	if string(arguments) == "null" {
		return nil
	}
	return arguments
}

// decideWidth is how many decisions of one request are made at once: each may wait for the
// workflow that it is told to.
const decideWidth = 8

func (s *server) decideApprovals(
	ctx context.Context, p tool.Principal, in *body[v1.Decide],
) (*body[v1.Page[v1.Decided]], error) {
	asked := in.Body.Decisions
	for i, d := range asked {
		if slices.ContainsFunc(asked[:i], func(other v1.DecideOne) bool { return other.ID == d.ID }) {
			return nil, &tool.Error{
				Kind: tool.Invalid, Op: "api.decideApprovals", Path: fmt.Sprintf("/decisions/%d/id", i),
				Msg: "another decision is on the same request",
			}
		}
	}
	out := v1.Page[v1.Decided]{Items: make([]v1.Decided, len(asked))}
	var group errgroup.Group
	group.SetLimit(decideWidth)
	for i, d := range asked {
		group.Go(func() error {
			out.Items[i] = s.decideOne(ctx, p, d)
			return nil
		})
	}
	_ = group.Wait() // Failures are in the items.
	return answer(out), nil
}

func (s *server) decideOne(ctx context.Context, p tool.Principal, d v1.DecideOne) v1.Decided {
	out := v1.Decided{ID: d.ID}
	decided, err := s.decide(ctx, p, d)
	if err != nil {
		err = s.auditRefusal(ctx, "decideApprovals", p, err, d.ID)
		problem := *s.problem(ctx, "decideApprovals", err)
		problem.TraceID, out.Error = traceID(ctx), &problem
		return out
	}
	out.Approval = &decided.Body
	return out
}

// maxWaits bounds the requests that a run is shown to wait for.
const maxWaits = 100

// waitsFor returns the requests that a run waits for: those of its own calls and, where it
// is the outermost run, of calls of the runs below.
func (s *server) waitsFor(ctx context.Context, run agent.Run) ([]string, error) {
	if run.Status != agent.RunRunning {
		return nil, nil
	}
	found, err := s.cfg.Store.ListApprovals(ctx, wait.Query{
		Tenant: run.Tenant, RunID: run.ID, Status: wait.Pending, Limit: maxWaits,
	})
	if err != nil {
		return nil, fmt.Errorf("reading what run %s waits for: %w", run.ID, err)
	}
	ids := make([]string, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	return ids, nil
}

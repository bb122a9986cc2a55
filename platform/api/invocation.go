package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type listInvocationsInput struct {
	Status string    `query:"status" enum:"pending,approved,running,waiting,completed,failed,rejected,cancelled,expired,unknown"`
	Tool   string    `query:"tool" maxLength:"64" doc:"Slug"`
	Kind   string    `query:"kind" enum:"invalid,not_found,denied,conflict,rate_limited,unavailable,timeout,unknown,cancelled,internal" doc:"The kind of its failure"`
	Run    string    `query:"run" maxLength:"64" doc:"Id of the run"`
	Agent  string    `query:"agent" maxLength:"64" doc:"Slug or id of the agent"`
	Parent string    `query:"parent" maxLength:"64" doc:"Id of the invocation whose steps to list"`
	Since  time.Time `query:"since" doc:"Created at or after"`
	Until  time.Time `query:"until" doc:"Created before"`
	Brief  bool      `query:"brief" doc:"Without arguments, receipts and answers"`
	Paging
}

type invocationInput struct {
	ID string `path:"id" maxLength:"64"`
}

type getInvocationInput struct {
	ID    string `path:"id" maxLength:"64"`
	Brief bool   `query:"brief" doc:"Without an answer of more than 64 KiB: output_bytes says how large it is"`
}

// maxBriefOutput bounds the answer that a brief invocation is returned with, in bytes.
const maxBriefOutput = 64 << 10

func (s *server) registerInvocations() {
	handle(s, route{
		id: "listInvocations", method: http.MethodGet, path: "/v1/invocations", tag: "invocations", permission: RunsRead,
		summary: "List invocations, newest first",
		detail:  "An invocation is the record of serving one call: pinned version, attempts, outcome.",
	}, s.listInvocations)
	handle(s, route{
		id: "getInvocation", method: http.MethodGet, path: "/v1/invocations/{id}", tag: "invocations", permission: RunsRead,
		summary: "Get an invocation", detail: "With the arguments, the record of their coercions, and the answer. " +
			"A call whose outcome is unknown has `check`: where to look for its effect. List those by `status=unknown`.",
	}, s.getInvocation)
	handle(s, route{
		id: "explainInvocation", method: http.MethodGet, path: "/v1/invocations/{id}/explain", tag: "invocations",
		permission: RunsRead, summary: "Explain a call that happened",
		detail: "How its tool was resolved, what was changed in its arguments, why it was allowed or asked for, " +
			"who decided, when it was tried, and how it ended or what it waits for.",
	}, s.explainCall)
}

func (s *server) listInvocations(
	ctx context.Context, p tool.Principal, in *listInvocationsInput,
) (*listed[v1.Invocation], error) {
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	q := store.InvocationQuery{
		Status: tool.InvocationStatus(in.Status), Tool: in.Tool, Kind: tool.Kind(in.Kind), Since: in.Since, Until: in.Until,
		Before: before, Limit: in.fetch(), Brief: in.Brief,
	}
	if in.Run != "" { // An unknown run is distinguished from one without calls.
		run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.Run)
		if err != nil {
			return nil, err
		}
		q.RunID = run.ID
	}
	if in.Parent != "" {
		whole, err := s.cfg.Store.FindInvocation(ctx, p.Tenant, in.Parent)
		if err != nil {
			return nil, err
		}
		q.Parent = whole.InvocationID
	}
	if in.Agent != "" {
		found, err := s.cfg.Store.FindAgent(ctx, p.Tenant, in.Agent)
		if err != nil {
			return nil, err
		}
		q.AgentID = found.ID
	}
	invocations, err := s.cfg.Store.ListInvocations(ctx, p.Tenant, q)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	if in.Brief {
		for i := range invocations {
			invocations[i].Input, invocations[i].Receipt, invocations[i].Output = nil, nil, nil
		}
	}
	id := func(i tool.Invocation) string { return i.InvocationID }
	return answer(page(in.Paging, invocations, shown.invocation, id)), nil
}

func (s *server) getInvocation(
	ctx context.Context,
	p tool.Principal,
	in *getInvocationInput,
) (*body[v1.Invocation], error) {
	invocation, left, err := s.findInvocation(ctx, p.Tenant, in)
	if err != nil {
		return nil, err
	}
	if invocation.Status == tool.StatusUnknown {
		check, err := s.records.Check(ctx, &invocation)
		if err != nil {
			return nil, fmt.Errorf("reconciling the call: %w", err)
		}
		invocation.Check = &check
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := shown.invocation(invocation)
	out.OutputBytes = left
	return answer(out), nil
}

// findInvocation returns an invocation, and the size of an answer that was left out.
func (s *server) findInvocation(
	ctx context.Context, tenant tool.TenantID, in *getInvocationInput,
) (i tool.Invocation, left int64, err error) {
	if in.Brief {
		return s.cfg.Store.FindBriefInvocation(ctx, tenant, in.ID, maxBriefOutput)
	}
	i, err = s.cfg.Store.FindInvocation(ctx, tenant, in.ID)
	return i, 0, err
}

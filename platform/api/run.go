package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type runOutput struct {
	Location string `header:"Location"`
	Body     v1.Run
}

type runInput struct {
	ID string `path:"id" maxLength:"64"`
}

type getRunInput struct {
	ID      string `path:"id" maxLength:"64"`
	Explain bool   `query:"explain" doc:"Also why calls waited, and which attempts got no answer of the model"`
}

type pauseRunInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body *v1.PauseRun
}

// request is what the input asks for.
func (in *pauseRunInput) request(p tool.Principal) runs.PauseRequest {
	r := runs.PauseRequest{Principal: p, RunID: in.ID}
	if in.Body != nil {
		r.Reason = in.Body.Reason
	}
	return r
}

type listRunsInput struct {
	Status  string    `query:"status" enum:"pending,running,completed,failed,cancelled,hosted"`
	Kind    string    `query:"kind" enum:"agent,tool_call,tool_test,host"`
	Agent   string    `query:"agent" maxLength:"64" doc:"Slug or id"`
	Parent  string    `query:"parent" maxLength:"64" doc:"Id of the run that asked for them"`
	Subject string    `query:"subject" maxLength:"200" doc:"Who started them" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	Mode    string    `query:"mode" enum:"production,debug"`
	Paused  bool      `query:"paused" doc:"Lists only runs that are paused"`
	Since   time.Time `query:"since" doc:"Created at or after"`
	Until   time.Time `query:"until" doc:"Created before"`
	Paging
}

func (s *server) registerRuns() {
	handle(s, route{
		id: "startRun", method: http.MethodPost, path: "/v1/runs", tag: "runs", permission: RunsWrite,
		status:  http.StatusAccepted,
		summary: "Start a run of an agent",
		detail:  "Records the run and starts its workflow, `t/<tenant>/run/<id>`. Follow it by its events.",
	}, s.startRun)
	handle(s, route{
		id: "listRuns", method: http.MethodGet, path: "/v1/runs", tag: "runs", permission: RunsRead,
		summary: "List runs, newest first", detail: "Of agents, of single calls, and of hosts' workflows.",
	}, s.listRuns)
	handle(s, route{
		id: "getRun", method: http.MethodGet, path: "/v1/runs/{id}", tag: "runs", permission: RunsRead,
		summary: "Get a run",
		detail: "With the exact versions that it is pinned to. With `explain` also why calls waited for others of their " +
			"turn, and the last attempts that got no answer of the model.",
	}, s.getRun)
	handle(s, route{
		id: "cancelRun", method: http.MethodPost, path: "/v1/runs/{id}/cancel", tag: "runs", permission: RunsWrite,
		status:  http.StatusAccepted,
		summary: "Cancel a run",
		detail:  "Asks the workflow to stop; calls under way are cancelled. A run that has ended is a conflict.",
	}, s.cancelRun)
	handle(s, route{
		id: "pauseRun", method: http.MethodPost, path: "/v1/runs/{id}/pause", tag: "runs", permission: RunsWrite,
		summary: "Pause a run",
		detail: "It begins nothing more, with all runs below it, until it is resumed: calls and questions that are in " +
			"progress come to their end. A run that is paused already is answered as it is; one that has ended, or that is " +
			"a part of another one, is a conflict.",
	}, s.pauseRun)
	handle(s, route{
		id: "resumeRun", method: http.MethodPost, path: "/v1/runs/{id}/resume", tag: "runs", permission: RunsWrite,
		summary: "Resume a run that is paused",
		detail:  "It goes on where it was. The time for which it was paused is none of its own.",
	}, s.resumeRun)
	handle(s, route{
		id: "listMessages", method: http.MethodGet, path: "/v1/runs/{id}/messages", tag: "runs", permission: RunsRead,
		summary: "Get a run's transcript",
		detail: "All messages in order; a run's limits bound them. With `last` the last ones, in order too, and " +
			"`next` leads " +
			"to those before them; with `first` the first ones, and `next` leads to those after them.",
	}, s.listMessages)
}

func (s *server) startRun(ctx context.Context, p tool.Principal, in *body[v1.NewRun]) (*runOutput, error) {
	asked := runs.NewRun{Request: requestOf(ctx), Principal: p, Mode: in.Body.Mode, Input: in.Body.Input}
	asked.Agent, asked.Constraint, _ = strings.Cut(in.Body.Agent, "@")
	if in.Body.Version != "" {
		asked.Constraint = in.Body.Version
	}
	if in.Body.Follow {
		asked.FollowFor = s.followLease()
	}
	run, err := s.runs.Start(ctx, asked)
	if err != nil {
		return nil, err
	}
	return &runOutput{Location: "/v1/runs/" + run.ID, Body: s.changedMask(ctx, p.Tenant).run(run)}, nil
}

func (s *server) getRun(ctx context.Context, p tool.Principal, in *getRunInput) (*runOutput, error) {
	run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := &runOutput{Body: shown.run(run)}
	out.Body.Warning = s.pollers.waitsFor(ctx, run)
	if out.Body.WaitsFor, err = s.waitsFor(ctx, run); err != nil {
		return nil, err
	}
	if out.Body.Asks, err = s.asks(ctx, p, run); err != nil {
		return nil, err
	}
	if in.Explain {
		err = s.explainRun(ctx, run, shown, &out.Body)
	}
	return out, err
}

func (s *server) listRuns(ctx context.Context, p tool.Principal, in *listRunsInput) (*listed[v1.Run], error) {
	q := store.RunQuery{
		Status: agent.RunStatus(in.Status), Kind: agent.RunKind(in.Kind), Subject: in.Subject, Mode: tool.Mode(in.Mode),
		Paused: in.Paused, Since: in.Since, Until: in.Until, Limit: in.fetch(),
	}
	var err error
	if q.Before, err = in.before(); err != nil {
		return nil, err
	}
	if in.Agent != "" {
		found, err := s.cfg.Store.FindAgent(ctx, p.Tenant, in.Agent)
		if err != nil {
			return nil, err
		}
		q.AgentID = found.ID
	}
	if in.Parent != "" {
		above, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.Parent)
		if err != nil {
			return nil, err
		}
		q.Parent = above.ID
	}
	found, err := s.cfg.Store.ListRuns(ctx, p.Tenant, q)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, shown.run, func(r agent.Run) string { return r.ID })), nil
}

func (s *server) cancelRun(ctx context.Context, p tool.Principal, in *runInput) (*runOutput, error) {
	run, err := s.runs.Cancel(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return &runOutput{Body: s.changedMask(ctx, p.Tenant).run(run)}, nil
}

func (s *server) pauseRun(ctx context.Context, p tool.Principal, in *pauseRunInput) (*runOutput, error) {
	run, err := s.runs.Pause(ctx, in.request(p))
	if err != nil {
		return nil, err
	}
	return &runOutput{Body: s.changedMask(ctx, p.Tenant).run(run)}, nil
}

func (s *server) resumeRun(ctx context.Context, p tool.Principal, in *pauseRunInput) (*runOutput, error) {
	run, err := s.runs.Resume(ctx, in.request(p))
	if err != nil {
		return nil, err
	}
	return &runOutput{Body: s.changedMask(ctx, p.Tenant).run(run)}, nil
}

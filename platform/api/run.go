package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

type startRunInput struct {
	Body v1.NewRun
}

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

type listRunsInput struct {
	Status string    `query:"status" enum:"pending,running,completed,failed,cancelled,hosted"`
	Kind   string    `query:"kind" enum:"agent,tool_call,tool_test,host"`
	Agent  string    `query:"agent" maxLength:"64" doc:"Slug or id"`
	Parent string    `query:"parent" maxLength:"64" doc:"Id of the run that asked for them"`
	Since  time.Time `query:"since" doc:"Created at or after"`
	Until  time.Time `query:"until" doc:"Created before"`
	Paging
}

type listRunsOutput struct {
	Body v1.Page[v1.Run]
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
		id: "listMessages", method: http.MethodGet, path: "/v1/runs/{id}/messages", tag: "runs", permission: RunsRead,
		summary: "Get a run's transcript", detail: "All messages in order; a run's limits bound them.",
	}, s.listMessages)
}

func (s *server) startRun(ctx context.Context, p tool.Principal, in *startRunInput) (*runOutput, error) {
	run, err := s.newRun(ctx, p, in.Body)
	if err != nil {
		return nil, err
	}
	content, err := inputContent(run.Input)
	if err != nil {
		return nil, err
	}
	if run, err = s.acceptRun(ctx, run, agent.Message{Role: agent.User, Content: content}); err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		shown = true // The run was accepted.
	}
	return &runOutput{Location: "/v1/runs/" + run.ID, Body: shown.run(run)}, nil
}

// acceptRun records a run and starts its workflow. A request that a server died
// over, and that is served again, finds the run that it began, unless that run
// could not be started: then it begins another.
func (s *server) acceptRun(ctx context.Context, run agent.Run, first agent.Message) (agent.Run, error) {
	before, err := s.runOfRequest(ctx, run.Tenant)
	switch {
	case err != nil:
		return agent.Run{}, err
	case before == nil:
	case !before.EndedUnbegun():
		return *before, nil
	default:
		if run.ID, err = uuid7.New(); err != nil {
			return agent.Run{}, err
		}
		run.WorkflowID = wire.RunWorkflowID(run.Tenant, run.ID)
	}
	input, err := json.Marshal(wire.NewAgentRun(run.Principal, run.ID))
	if err != nil {
		return agent.Run{}, fmt.Errorf("encoding the workflow's input: %w", err)
	}
	accepted, err := s.runs.Accept(ctx, run, &first, agent.Start{
		Workflow: wire.AgentRunWorkflow, Summary: "agent " + run.Agent, Agent: run.Agent, Input: input, Memo: memo(ctx),
	})
	return accepted.Run, err
}

// runOfRequest returns the run that an earlier service of this request recorded.
func (s *server) runOfRequest(ctx context.Context, tenant tool.TenantID) (*agent.Run, error) {
	if requestID(ctx) == "" {
		return nil, nil
	}
	run, err := s.cfg.Store.FindRun(ctx, tenant, requestID(ctx))
	if tool.KindOf(err) == tool.NotFound {
		return nil, nil
	}
	return &run, err
}

// newRun validates a requested run and describes it. A run that could only fail
// is refused here, with the reason, instead of being started.
func (s *server) newRun(ctx context.Context, p tool.Principal, in v1.NewRun) (agent.Run, error) {
	name, constraint, _ := strings.Cut(in.Agent, "@")
	if in.Version != "" {
		constraint = in.Version
	}
	found, err := s.cfg.Store.FindAgent(ctx, p.Tenant, name)
	if err != nil {
		return agent.Run{}, fmt.Errorf("finding agent %q: %w", name, err)
	}
	versions, err := s.cfg.Store.ListAgentVersions(ctx, p.Tenant, found.ID)
	if err != nil {
		return agent.Run{}, fmt.Errorf("listing the versions of agent %q: %w", name, err)
	}
	chosen, err := resolver.ChooseAgent(found, versions, constraint, in.Mode)
	if err != nil {
		return agent.Run{}, err
	}
	if chosen.Snapshot.OnUnavailableTool == agent.RefuseRun {
		_, unavailable, err := s.cfg.Resolver.Bind(ctx, p, chosen.Snapshot.Tools, in.Mode)
		if err = cmp.Or(err, resolver.RefuseRun(found.Slug, unavailable)); err != nil {
			return agent.Run{}, err
		}
	}
	id, err := newRunID(ctx)
	if err != nil {
		return agent.Run{}, err
	}
	run := agent.Run{
		ID: id, Tenant: p.Tenant, Kind: agent.AgentRun, AgentID: found.ID, Agent: found.Slug,
		Mode: in.Mode, Principal: p, Status: agent.RunPending, Input: in.Input,
		WorkflowID: wire.RunWorkflowID(p.Tenant, id),
	}
	if in.Follow {
		run.FollowFor = s.followLease()
	}
	if constraint != "" {
		run.AgentVersion = chosen.Number // What was asked for is decided now, even if a version is published meanwhile.
	}
	return run, nil
}

// inputContent returns a run's input as the content of its first message: a
// string as text, anything else as JSON.
func inputContent(input json.RawMessage) ([]tool.Content, error) {
	input = bytes.TrimSpace(input)
	var text string
	switch {
	case len(input) == 0 || bytes.Equal(input, []byte("null")) || bytes.Equal(input, []byte(`""`)):
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.startRun", Path: "/input",
			Msg: "input is empty: an agent needs something to begin with",
		}
	case json.Unmarshal(input, &text) == nil:
		return []tool.Content{tool.Text(text)}, nil
	default:
		return []tool.Content{tool.JSON(input)}, nil
	}
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
	if in.Explain {
		err = s.explainRun(ctx, run, shown, &out.Body)
	}
	return out, err
}

func (s *server) listRuns(ctx context.Context, p tool.Principal, in *listRunsInput) (*listRunsOutput, error) {
	q := store.RunQuery{
		Status: agent.RunStatus(in.Status), Kind: agent.RunKind(in.Kind), Since: in.Since, Until: in.Until, Limit: in.fetch(),
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
	runs, err := s.cfg.Store.ListRuns(ctx, p.Tenant, q)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return &listRunsOutput{Body: page(in.Paging, runs, shown.run, func(r agent.Run) string { return r.ID })}, nil
}

func (s *server) cancelRun(ctx context.Context, p tool.Principal, in *runInput) (*runOutput, error) {
	run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	run, err = s.runs.Cancel(ctx, run)
	ended := tool.KindOf(err) == tool.NotFound
	if err != nil && !ended || run.Status.Final() {
		return &runOutput{Body: v1.FromRun(run)}, err
	}
	if run, err = s.afterCancel(ctx, run, ended); err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		shown = true // The run was cancelled.
	}
	return &runOutput{Body: shown.run(run)}, nil
}

// afterCancel returns a run whose workflow was asked to stop, as it is. Temporal
// takes the request for a workflow that is over as well: then the run is closed
// here. It fails with tool.Conflict for a run that ended otherwise.
func (s *server) afterCancel(ctx context.Context, run agent.Run, ended bool) (agent.Run, error) {
	run, err := s.records.Run(ctx, run.Tenant, run.ID)
	if err != nil {
		return run, fmt.Errorf("looking at the run: %w", err)
	}
	conflict := &tool.Error{
		Kind: tool.Conflict, Op: "api.cancelRun", Msg: fmt.Sprintf("the run is %s already", run.Status),
	}
	switch {
	case run.Status == agent.RunCancelled:
		return run, nil
	case run.Status.Final():
		return run, conflict
	case ended && run.StartedAt == nil:
		conflict.Msg = "the run's workflow has not been started yet: try again in a moment"
		return run, conflict
	case ended:
		conflict.Msg = "the run's workflow has ended, and its last calls are being settled: look at the run again in a moment"
		return run, conflict
	}
	return run, nil
}

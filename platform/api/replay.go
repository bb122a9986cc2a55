package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type newReplayInput struct {
	ToolPath
	Body v1.NewReplay
}

type replayInput struct {
	ToolPath
	Replay string `path:"replay" maxLength:"64" doc:"Id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f4"`
}

type replayOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     v1.Replay
}

// startReplayWithin is for how long a request starts live calls; those that are left are reported as not made.
const startReplayWithin = 20 * time.Second

func (s *server) registerReplays() {
	handle(s, route{
		id: "createReplay", method: http.MethodPost, path: "/v1/tools/{tool}/replays", tag: "tools", permission: ToolsWrite,
		status: http.StatusCreated, summary: "Compare the last recorded calls of a tool with its draft, or with a version",
		detail: "Pure tools and those of the egress class read_only are called with the recorded arguments, as tests: by " +
			"every rule of calls, in debug mode and without leave to write, which takes runs.write too. Of others, the " +
			"recorded arguments and answers are held against the schemas. Calls that cannot be replayed are listed with " +
			"the reason. Get the replay until it has ended.",
	}, s.createReplay)
	handle(s, route{
		id: "listReplays", method: http.MethodGet, path: "/v1/tools/{tool}/replays", tag: "tools", permission: ToolsRead,
		summary: "List the replays of a tool, newest first", detail: "They are kept for thirty days. Calls are not listed.",
	}, s.listReplays)
	handle(s, route{
		id: "getReplay", method: http.MethodGet, path: "/v1/tools/{tool}/replays/{replay}", tag: "tools",
		permission: ToolsRead, summary: "Get a replay, with what differs of each call",
	}, s.getReplay)
}

func (s *server) createReplay(ctx context.Context, p tool.Principal, in *newReplayInput) (*replayOutput, error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	recorded, err := s.cfg.Store.ReplayableCalls(ctx, p.Tenant, t.ID, in.Body.Calls)
	if err != nil {
		return nil, err
	}
	r, calls, err := s.cfg.Registry.PrepareReplay(ctx, p, tool.Ref{ID: t.ID, Constraint: in.Body.Version}, recorded)
	if err != nil {
		return nil, err
	}
	deadline, away := time.Now().Add(startReplayWithin), ""
	for i := range calls {
		if calls[i].Outcome != registry.ReplayRunning {
			continue
		}
		switch {
		case !p.May(RunsWrite):
			calls[i] = calls[i].Unmade("its live call takes the permission " + RunsWrite)
			continue
		case time.Now().After(deadline) || ctx.Err() != nil:
			calls[i] = calls[i].Unmade("its live call could not be started in time: ask for fewer calls")
			continue
		case away != "":
			calls[i] = calls[i].Unmade(away)
			continue
		}
		call, err := s.callTest(ctx, p, t.ID, v1.NewToolTest{Arguments: calls[i].Arguments, Version: in.Body.Version}, 0)
		if err != nil {
			calls[i] = calls[i].Unmade("its live call could not be started: " + tool.AsError(err).Msg)
			if tool.KindOf(err) == tool.Unavailable { // The others would wait for the same.
				away = calls[i].Differences[0]
			}
			continue
		}
		calls[i].RunID = call.RunID
	}
	r.Asked = in.Body.Calls
	r.Count(calls)
	if r.Calls, err = json.Marshal(calls); err != nil {
		return nil, fmt.Errorf("writing the replay: %w", err)
	}
	if r, err = s.cfg.Store.CreateReplay(context.WithoutCancel(ctx), r); err != nil {
		return nil, err
	}
	out := &replayOutput{Status: http.StatusCreated, Location: "/v1/tools/" + t.Slug + "/replays/" + r.ID}
	out.Body, err = v1.FromReplay(r, t.Slug)
	return out, err
}

func (s *server) getReplay(ctx context.Context, p tool.Principal, in *replayInput) (*body[v1.Replay], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	r, err := s.cfg.Store.FindReplay(ctx, p.Tenant, t.ID, in.Replay)
	if err != nil {
		return nil, err
	}
	if !r.Ended {
		if r, err = s.advanceReplay(ctx, r); err != nil {
			return nil, err
		}
	}
	shown, err := v1.FromReplay(r, t.Slug)
	if err != nil {
		return nil, err
	}
	return answer(shown), nil
}

// advanceReplay compares the live calls of a replay that have ended since, and writes that down. The calls are runs of
// their own, so any server goes on where another stopped.
func (s *server) advanceReplay(ctx context.Context, r registry.Replay) (registry.Replay, error) {
	var calls []registry.ReplayedCall
	if err := json.Unmarshal(r.Calls, &calls); err != nil {
		return r, fmt.Errorf("reading the replay: %w", err)
	}
	for i := range calls {
		if calls[i].Outcome != registry.ReplayRunning {
			continue
		}
		compared, err := s.compareCall(ctx, r, calls[i])
		if err != nil {
			return r, err
		}
		calls[i] = compared
	}
	r.Count(calls)
	var err error
	if r.Calls, err = json.Marshal(calls); err != nil {
		return r, fmt.Errorf("writing the replay: %w", err)
	}
	return r, s.cfg.Store.EndReplay(ctx, r)
}

// compareCall returns a live call with its outcome, where its run has ended.
func (s *server) compareCall(
	ctx context.Context, r registry.Replay, c registry.ReplayedCall,
) (registry.ReplayedCall, error) {
	run, err := s.cfg.Store.FindRun(ctx, r.Tenant, c.RunID)
	if tool.KindOf(err) == tool.NotFound {
		return c.Unmade("the run of its live call is gone"), nil
	}
	if err != nil {
		return c, fmt.Errorf("finding a live call: %w", err)
	}
	if !run.Status.Final() {
		return c, nil
	}
	if run.Plan == nil || len(run.Plan.Tools) != 1 {
		return c.Unmade("its live call was not made: " + run.Error), nil
	}
	if digest := run.Plan.Tools[0].Digest; digest != r.Digest {
		return c.Unmade("the draft was changed before its live call was made"), nil
	}
	made, err := s.cfg.Store.ListInvocations(ctx, r.Tenant, store.InvocationQuery{RunID: c.RunID, Limit: 1})
	if err != nil {
		return c, fmt.Errorf("finding the record of a live call: %w", err)
	}
	if len(made) == 0 {
		return c.Unmade("its live call was not made: " + run.Error), nil
	}
	was, err := s.cfg.Store.FindInvocation(ctx, r.Tenant, c.InvocationID)
	if tool.KindOf(err) == tool.NotFound {
		return c.Unmade("the recorded call was deleted meanwhile"), nil
	}
	if err != nil {
		return c, fmt.Errorf("finding a recorded call: %w", err)
	}
	return c.Compare(&was, &made[0]), nil
}

func (s *server) listReplays(ctx context.Context, p tool.Principal, in *canariesInput) (*listed[v1.Replay], error) {
	t, err := s.findTool(ctx, p, in.Tool)
	if err != nil {
		return nil, err
	}
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListReplays(ctx, p.Tenant, t.ID, before, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, func(r registry.Replay) v1.Replay {
		r.Calls = nil
		shown, _ := v1.FromReplay(r, t.Slug) // Without calls, it does not fail.
		return shown
	}, func(r registry.Replay) string { return r.ID })), nil
}

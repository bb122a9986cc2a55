package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// defaultWait is how long a call's result is waited for when the request names no time.
const defaultWait = 30 * time.Second

type callInput struct {
	Tool string `path:"tool" maxLength:"64" doc:"Slug, alias or id" example:"searchOrders"`
	Body v1.NewCall
}

type callOutput struct {
	Status int
	Body   v1.Call
}

func (s *server) registerCalls() {
	handle(s, route{
		id: "callTool", method: http.MethodPost, path: "/v1/tools/{tool}/call", tag: "tools", permission: RunsWrite,
		summary: "Call a tool once", accepted: "The call is still running",
		detail: "Runs the call durably and waits for its answer. 200 carries the answer, 202 says that it is still " +
			"running: look at the run. A call without an answer is a problem whose `instance` is the run. With an `id` the " +
			"call is made once, however often it is asked for, until its run is deleted; the same id with another " +
			"call is a conflict.",
	}, s.callTool)
}

func (s *server) callTool(ctx context.Context, p tool.Principal, in *callInput) (*callOutput, error) {
	if in.Body.Resume != nil && !p.May(RunsRead) { // The answer has what the other call found.
		return nil, &tool.Error{
			Kind: tool.Denied, Op: "api.callTool", Path: "/resume",
			Msg: fmt.Sprintf("the caller lacks the permission %q", RunsRead),
		}
	}
	call, err := s.runs.Call(ctx, runs.NewCall{
		Request: requestOf(ctx), Principal: p, Node: wire.Node{
			ID: in.Body.ID, Tool: refOf(in.Tool, in.Body.Version), Arguments: in.Body.Arguments, Mode: in.Body.Mode,
		}, Resume: resumeOf(in.Body.Resume),
	})
	if err != nil {
		return nil, err
	}
	result, ended, err := s.runs.Wait(ctx, call, waitOf(in.Body.WaitS), s.hub)
	if err != nil {
		return nil, callProblem(ctx, call, in.Body.ID != "", err)
	}
	out := &callOutput{Status: http.StatusAccepted, Body: v1.Call{
		RunID: call.RunID, Tool: call.Tool, Status: agent.RunRunning, Result: result, Warnings: call.Warnings,
	}}
	if ended {
		out.Status, out.Body.Status = http.StatusOK, agent.RunCompleted
	}
	return out, nil
}

func resumeOf(r *v1.Resume) *runs.Resume {
	if r == nil {
		return nil
	}
	return &runs.Resume{Invocation: r.Invocation, Node: r.Node}
}

// refOf returns the reference to the tool that a path names.
func refOf(name, constraint string) tool.Ref {
	if tool.ValidID(name) {
		return tool.Ref{ID: name, Constraint: constraint}
	}
	return tool.Ref{Slug: name, Constraint: constraint}
}

// waitOf returns how long a call is waited for.
func waitOf(seconds *float64) time.Duration {
	if seconds == nil {
		return defaultWait
	}
	return time.Duration(*seconds * float64(time.Second))
}

// callProblem returns the problem of a call that ended without a result. named
// says that the caller chose the id of the call: a repeated request then gets the
// same answer.
func callProblem(ctx context.Context, call runs.Call, named bool, failure error) *v1.Problem {
	p := problemOf(failure)
	p.Instance = "/v1/runs/" + call.RunID
	if named {
		final(p)
	}
	if at := servingOf(ctx); at != nil {
		at.final, at.over = !p.Retryable, true
	}
	return p
}

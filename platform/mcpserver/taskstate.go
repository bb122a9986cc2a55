package mcpserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// created answers a call with its task. Where the run cannot be read, the answer is that the call goes on.
func (s *Server) created(ctx context.Context, c *Caller, w waiting) mcp.Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortTimeout)
	defer cancel()
	run, err := s.taskRun(ctx, c, w.call.RunID)
	if err != nil {
		s.report(ctx, c, methodCallTool, err)
		return goesOn(w, "the call has not ended yet")
	}
	state := stateOfRun(run)
	state.ResultType, state.Meta = typeTask, mcp.Meta{metaRunID: run.ID}
	return taskAnswer(state)
}

// stateOfRun returns the state of a task whose call is running.
func stateOfRun(run agent.Run) taskState {
	updated := run.CreatedAt
	if run.StartedAt != nil {
		updated = *run.StartedAt
	}
	if run.CompletedAt != nil {
		updated = *run.CompletedAt
	}
	return taskState{
		ResultType: typeComplete, ID: run.ID, Status: taskWorking, CreatedAt: run.CreatedAt, LastUpdatedAt: updated,
		PollInterval: pollInterval,
	}
}

// answerExtension answers a method of the extension.
func (s *Server) answerExtension(ctx context.Context, c *Caller, req *mcp.CallToolRequest) (mcp.Result, error) {
	if !hasTasks(req) {
		return nil, lacksTasks()
	}
	ctx, cancel := c.short(ctx)
	defer cancel()
	if err := may(c, s.cfg.CallPermission); err != nil {
		return nil, err
	}
	var in struct {
		TaskID    string                     `json:"taskId"`         //nolint:tagliatelle // The protocol's name.
		Responses map[string]json.RawMessage `json:"inputResponses"` //nolint:tagliatelle // The protocol's name.
	}
	if json.Unmarshal(req.Params.Arguments, &in) != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the parameters of the request are malformed"}
	}
	run, err := s.taskRun(ctx, c, in.TaskID)
	if err != nil {
		return nil, err
	}
	switch c.task {
	case methodGetTask:
		state, err := s.taskState(ctx, c, req, run)
		if err != nil {
			return nil, err
		}
		return taskAnswer(state), nil
	case methodUpdateTask:
		return s.updateTask(ctx, c, req, run, in.Responses)
	}
	_, err = s.cfg.Runs.Cancel(ctx, c.Principal.Tenant, run.ID)
	if err != nil && tool.KindOf(err) != tool.Conflict { // One that has ended, or was cancelled, is acknowledged too.
		return nil, err //nolint:wrapcheck // Its words are the client's.
	}
	return acknowledged(), nil
}

// taskState returns a run as a task of the extension: with its result, with why there is none, or with what it asks
// the person at the client.
func (s *Server) taskState(ctx context.Context, c *Caller, req *mcp.CallToolRequest, run agent.Run) (taskState, error) {
	state := stateOfRun(run)
	w := waitingTask(req, run)
	switch {
	case run.Status == agent.RunCancelled || run.CancelExecution != "":
		state.Status = taskCancelled
	case run.Status.Final():
		result, over, err := s.cfg.Runs.Wait(ctx, w.call, taskResultTimeout, s.cfg.Wakes)
		switch {
		case !over && err != nil:
			return state, err //nolint:wrapcheck // Its words are the client's.
		case over:
			s.ended(ctx, c, w, &state, ended{result, over, err})
		}
	default:
		asked, why, err := s.taskQuestions(ctx, c, w)
		if err != nil {
			return state, err
		}
		state.StatusMessage = why
		if len(asked) > 0 {
			state.Status, state.InputRequests = taskInputRequired, make(mcp.InputRequestMap, len(asked))
			for key, q := range asked {
				state.InputRequests[key] = q.params
			}
		}
	}
	return state, nil
}

// ended puts the end of a call into the state of its task. A tool that answered "no", and a call that was refused, are
// completed, as they would be without a task; failures of the platform are failed.
func (s *Server) ended(ctx context.Context, c *Caller, w waiting, state *taskState, end ended) {
	result := s.finished(ctx, c, w, end)
	if kind, _ := result.Meta[metaKind].(string); kind == string(tool.InternalError) {
		text := textOf(result)
		state.Status, state.StatusMessage = taskFailed, text
		state.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
		return
	}
	state.Status, state.Result = taskCompleted, result
}

// waitingTask returns the call of a task as one that a request waits for.
func waitingTask(req *mcp.CallToolRequest, run agent.Run) waiting {
	return waiting{
		call: runs.Recorded(run), session: req.Session, modes: modesOf(req), revision: req.ProtocolVersion(), alone: true,
		called: called{typed: true, nests: true, inline: tool.MaxInlineResult},
	}
}

// taskQuestions returns what a call, or a run below it, asks the person at the client, by keys that name a question and
// what it shows. Of what others decide, why says the first.
func (s *Server) taskQuestions(
	ctx context.Context, c *Caller, w waiting,
) (asked map[string]*question, why string, err error) {
	found, err := s.holdsOf(ctx, c, w)
	if err != nil {
		return nil, "", err
	}
	asked = map[string]*question{}
	for _, h := range found {
		q, link, err := s.question(ctx, c, w, h)
		if err != nil {
			s.log.WarnContext(ctx, "what a task asks could not be read", slog.String("run_id", w.call.RunID),
				slog.String("tenant_id", string(c.Principal.Tenant)), slog.Any("error", err))
			continue
		}
		if q == nil {
			why = cmp.Or(why, h.waitsFor(link))
			continue
		}
		key := q.key
		if q.seen != "" {
			sum := sha256.Sum256([]byte(q.seen))
			key += "." + hex.EncodeToString(sum[:8])
		}
		asked[key] = q
	}
	return asked, why, nil
}

// holdsOf returns what a call, and runs below it, wait for, the oldest first.
func (s *Server) holdsOf(ctx context.Context, c *Caller, w waiting) ([]*hold, error) {
	approvals, err := s.cfg.Record.ListApprovals(ctx, wait.Query{
		Tenant: c.Principal.Tenant, RunID: w.call.RunID, Status: wait.Pending, Oldest: true, Limit: maxTaskQuestions,
	})
	if err != nil {
		return nil, fmt.Errorf("looking for approvals of a task: %w", err)
	}
	open, err := s.cfg.Record.ListCalls(ctx, wait.CallQuery{
		Tenant: c.Principal.Tenant, RunID: w.call.RunID, Status: wait.CallsOpen, Of: tool.Input, Oldest: true,
		Limit: maxTaskQuestions,
	})
	if err != nil {
		return nil, fmt.Errorf("looking for requests for input of a task: %w", err)
	}
	out := make([]*hold, 0, len(approvals)+len(open))
	for i := range approvals {
		out = append(out, approvalHold(&approvals[i]))
	}
	for i := range open {
		if p := &open[i]; p.RequiresResponse && !p.Async {
			out = append(out, inputHold(p))
		}
	}
	return out, nil
}

// updateTask takes answers of the person at the client. Those to nothing that is asked are ignored. A person who
// declined leaves the question to others, as in a call without a task.
func (s *Server) updateTask(
	ctx context.Context, c *Caller, req *mcp.CallToolRequest, run agent.Run, responses map[string]json.RawMessage,
) (mcp.Result, error) {
	if run.Status.Final() || len(responses) == 0 {
		return acknowledged(), nil
	}
	asked, _, err := s.taskQuestions(ctx, c, waitingTask(req, run))
	if err != nil {
		return nil, err
	}
	for key, q := range asked {
		given, ok := responses[key]
		if !ok {
			continue
		}
		var answer mcp.ElicitResult
		if json.Unmarshal(given, &answer) != nil || answer.Action == "" {
			return nil, &jsonrpc.Error{
				Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the answer to %q is none to an elicitation", clip(key)),
			}
		}
		if answer.Action != actionAccept || q.params.Mode == "url" { // The page takes its answer.
			continue
		}
		if r := s.take(ctx, c, q, &answer); !r.taken {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: r.note}
		}
	}
	return acknowledged(), nil
}

package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Tasks are an experiment of revision 2025-11-25, which the library does not know. A task is the run of a call: its
// id is that of the run, it is the key's that made it, and it is there for as long as the run is. The methods of
// tasks, and calls that ask to be tasks, are passed through the library as calls of tools; [Caller.task] says what
// they are.
const tasksRevision = "2025-11-25"

// Methods of tasks.
const (
	methodTasks      = "tasks/"
	methodGetTask    = "tasks/get"
	methodTaskResult = "tasks/result"
	methodListTasks  = "tasks/list"
	methodCancelTask = "tasks/cancel"
)

const (
	// pollInterval is how often clients should ask for the state of a task, in milliseconds.
	pollInterval = 1000
	// tasksPage is how many tasks a page has.
	tasksPage = 100
	// beginPoll is how often a task that no worker has begun is looked at, in case that a wake-up was lost.
	beginPoll = 500 * time.Millisecond
	// metaRelatedTask is, of the result of a task, the task.
	metaRelatedTask = "io.modelcontextprotocol/related-task"
)

// taskStatus is the status of a task.
type taskStatus string

// Statuses of a task.
const (
	taskWorking       taskStatus = "working"
	taskInputRequired taskStatus = "input_required" // It waits for a person.
	taskCompleted     taskStatus = "completed"
	taskFailed        taskStatus = "failed"
	taskCancelled     taskStatus = "cancelled"
)

// final reports whether a status is never left again.
func (s taskStatus) final() bool { return s == taskCompleted || s == taskFailed || s == taskCancelled }

// task is a call as a task.
//
//nolint:tagliatelle // The protocol's names.
type task struct {
	ID            string     `json:"taskId"`
	Status        taskStatus `json:"status"`
	StatusMessage string     `json:"statusMessage,omitempty"`
	CreatedAt     time.Time  `json:"createdAt"`
	LastUpdatedAt time.Time  `json:"lastUpdatedAt"`
	TTL           *int64     `json:"ttl"` // Null: it is kept for as long as its run is.
	PollInterval  int        `json:"pollInterval"`
}

// taskResult is the answer of a method of tasks. The library writes what it embeds for calls of tools.
type taskResult struct {
	*mcp.CallToolResult
	answer any
}

// MarshalJSON implements [json.Marshaler].
func (r taskResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.answer) } //nolint:wrapcheck // Plain values.

func taskAnswer(answer any) taskResult { return taskResult{&mcp.CallToolResult{}, answer} }

// asTask makes a message that is about tasks one that the library passes on. It returns the method; empty for
// another message.
func asTask(r *http.Request, message []byte) (method string, rewritten []byte) {
	if r.Header.Get(versionHeader) != tasksRevision {
		return "", message
	}
	var m struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil {
		return "", message
	}
	switch {
	case m.Method == methodCallTool:
		var params struct {
			Task json.RawMessage `json:"task"`
		}
		if json.Unmarshal(m.Params, &params) != nil || len(params.Task) == 0 || string(params.Task) == "null" {
			return "", message
		}
		return methodCallTool, message
	case !strings.HasPrefix(m.Method, methodTasks):
		return "", message
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(message, &members) != nil {
		return "", message
	}
	if len(m.Params) == 0 {
		m.Params = json.RawMessage("{}")
	}
	params, err := json.Marshal(map[string]any{"name": m.Method, "arguments": m.Params})
	if err != nil {
		return "", message
	}
	members["method"], members["params"] = json.RawMessage(`"`+methodCallTool+`"`), params
	if rewritten, err = json.Marshal(members); err != nil {
		return "", message
	}
	return m.Method, rewritten
}

// answerTask answers a method of tasks.
func (s *Server) answerTask(ctx context.Context, of *session, c *Caller, req *mcp.CallToolRequest) (mcp.Result, error) {
	if c.task == methodCallTool {
		return s.beginTask(ctx, of, c, req)
	}
	if c.task != methodTaskResult {
		short, cancel := c.short(ctx)
		defer cancel()
		ctx = short
	}
	if err := may(c, s.cfg.CallPermission); err != nil {
		return nil, err
	}
	var in struct {
		TaskID string `json:"taskId"` //nolint:tagliatelle // The protocol's name.
		Cursor string `json:"cursor"`
	}
	if json.Unmarshal(req.Params.Arguments, &in) != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the parameters of the request are malformed"}
	}
	if c.task == methodListTasks {
		return s.listTasks(ctx, c, in.Cursor)
	}
	run, err := s.taskRun(ctx, c, in.TaskID)
	if err != nil {
		return nil, err
	}
	switch c.task {
	case methodGetTask:
		shown, err := s.taskOf(ctx, c, run)
		if err != nil {
			return nil, err
		}
		return taskAnswer(shown), nil
	case methodCancelTask:
		return s.cancelTask(ctx, c, run)
	case methodTaskResult:
		return s.awaitTask(ctx, of, c, req, run)
	}
	return nil, &jsonrpc.Error{
		Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", clip(c.task)),
	}
}

// beginTask makes a call, or joins the one of its id, and answers at once with its task. A call that was refused
// before it had a run is an error.
func (s *Server) beginTask(ctx context.Context, of *session, c *Caller, req *mcp.CallToolRequest) (mcp.Result, error) {
	if inPlace(req.Params.Name) { // A tool of the key's own may have the name: it is called without a task.
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("calls of %s are no tasks", req.Params.Name),
		}
	}
	w, refusal, err := s.begin(ctx, of, c, req)
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: textOf(refusal)}
	}
	run, err := s.taskRun(ctx, c, w.call.RunID)
	if err != nil {
		return nil, err
	}
	shown, err := s.taskOf(ctx, c, run)
	if err != nil {
		return nil, err
	}
	return taskAnswer(map[string]any{"task": shown, "_meta": map[string]any{metaRunID: w.call.RunID}}), nil
}

// textOf returns the words of an answer.
func textOf(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// taskRun finds the run of a task. Another key's is not found.
func (s *Server) taskRun(ctx context.Context, c *Caller, id string) (agent.Run, error) {
	absent := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("task not found: %q", clip(id))}
	if !tool.ValidID(id) {
		return agent.Run{}, absent
	}
	run, err := s.cfg.Record.FindRun(ctx, c.Principal.Tenant, id)
	switch {
	case tool.KindOf(err) == tool.NotFound && err != nil:
		return agent.Run{}, absent
	case err != nil:
		return agent.Run{}, fmt.Errorf("finding a run: %w", err)
	case !isTask(c, &run):
		return agent.Run{}, absent
	}
	return run, nil
}

func isTask(c *Caller, run *agent.Run) bool {
	return run.Principal.Subject == c.Principal.Subject && run.Kind == agent.RunKindToolCall && run.Parent == nil
}

// taskOf returns a run as a task. One whose cancellation was requested is cancelled from then on, as the protocol has
// it, however its call ends.
func (s *Server) taskOf(ctx context.Context, c *Caller, run agent.Run) (task, error) {
	out := task{
		ID: run.ID, Status: taskWorking, CreatedAt: run.CreatedAt, LastUpdatedAt: run.CreatedAt, PollInterval: pollInterval,
	}
	if run.StartedAt != nil {
		out.LastUpdatedAt = *run.StartedAt
	}
	if run.CompletedAt != nil {
		out.LastUpdatedAt = *run.CompletedAt
	}
	switch {
	case run.Status == agent.RunCancelled || run.CancelExecution != "":
		out.Status = taskCancelled
	case run.Status == agent.RunFailed:
		out.Status, out.StatusMessage = taskFailed, words(&tool.Error{Kind: run.ErrorKind, Msg: run.Error})
	case run.Status == agent.RunCompleted:
		end, err := s.cfg.Record.FindCallEnd(ctx, c.Principal.Tenant, run.ID)
		if err != nil {
			return task{}, fmt.Errorf("reading how a run ended: %w", err)
		}
		if out.Status = taskCompleted; end.Result != nil && end.Result.IsError {
			out.Status = taskFailed
		}
	default:
		waits, why, err := s.waitsForPeople(ctx, c, run.ID)
		if err != nil {
			return task{}, err
		}
		if waits {
			out.Status, out.StatusMessage = taskInputRequired, why
		}
	}
	return out, nil
}

// waitsForPeople reports whether a call waits for an approval, or for a person's answer.
func (s *Server) waitsForPeople(ctx context.Context, c *Caller, runID string) (waits bool, why string, err error) {
	asked, err := s.cfg.Record.ListApprovals(ctx, wait.Query{
		Tenant: c.Principal.Tenant, RunID: runID, Status: wait.Pending, Limit: 1,
	})
	if err != nil {
		return false, "", fmt.Errorf("looking for approvals: %w", err)
	}
	if len(asked) > 0 {
		return true, "the call waits for the approval " + asked[0].ID, nil
	}
	open, err := s.cfg.Record.ListCalls(ctx, wait.CallQuery{
		Tenant: c.Principal.Tenant, RunID: runID, Status: wait.CallsOpen, Of: tool.Input, Limit: 1,
	})
	if err != nil {
		return false, "", fmt.Errorf("looking for requests for input: %w", err)
	}
	if len(open) > 0 {
		return true, "the call waits for the answer of a person to the request " + open[0].ID, nil
	}
	return false, "", nil
}

// listTasks lists the tasks of a key, newest first.
func (s *Server) listTasks(ctx context.Context, c *Caller, cursor string) (mcp.Result, error) {
	if cursor != "" && !tool.ValidID(cursor) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is none of this server's"}
	}
	found, err := s.cfg.Record.ListRuns(ctx, c.Principal.Tenant, store.RunQuery{
		Kind: agent.RunKindToolCall, Subject: c.Principal.Subject, Top: true, Before: cursor, Limit: tasksPage + 1,
	})
	if err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	answer := map[string]any{}
	if len(found) > tasksPage {
		found = found[:tasksPage]
		answer["nextCursor"] = found[tasksPage-1].ID
	}
	tasks := []task{}
	for i := range found {
		shown, err := s.taskOf(ctx, c, found[i])
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, shown)
	}
	answer["tasks"] = tasks
	return taskAnswer(answer), nil
}

// cancelTask cancels a call. One that has ended, or was cancelled, cannot be cancelled any more. Where the request
// could not be recorded, the answer is the state that the task has.
func (s *Server) cancelTask(ctx context.Context, c *Caller, run agent.Run) (mcp.Result, error) {
	shown, err := s.taskOf(ctx, c, run)
	if err != nil {
		return nil, err
	}
	if shown.Status.final() {
		return nil, taskEnded(&shown)
	}
	_, refused := s.cfg.Runs.Cancel(ctx, c.Principal.Tenant, run.ID)
	if refused != nil && tool.KindOf(refused) != tool.Conflict {
		return nil, refused //nolint:wrapcheck // Its words are the client's.
	}
	if run, err = s.taskRun(ctx, c, run.ID); err != nil {
		return nil, err
	}
	if shown, err = s.taskOf(ctx, c, run); err != nil {
		return nil, err
	}
	switch {
	case refused != nil && run.Status.Final():
		return nil, taskEnded(&shown)
	case refused != nil:
		return nil, refused //nolint:wrapcheck // Its words are the client's.
	}
	return taskAnswer(shown), nil
}

func taskEnded(t *task) error {
	return &jsonrpc.Error{
		Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the task %s has ended: it is %s", t.ID, t.Status),
	}
}

// awaitTask waits for the end of a task, and answers as its call would have. While it waits for the person at the
// client, they are asked there.
func (s *Server) awaitTask(
	ctx context.Context, of *session, c *Caller, req *mcp.CallToolRequest, run agent.Run,
) (mcp.Result, error) {
	c.out.begin()
	until := time.Now().Add(s.cfg.CallWait)
	run, err := s.awaitBegun(ctx, of, c, run)
	if err != nil {
		return nil, err
	}
	w := waiting{
		call: runs.Recorded(run), session: req.Session, modes: modesOf(req), revision: tasksRevision, patient: true,
		within: max(time.Until(until), time.Millisecond),
		called: called{typed: true, nests: true, inline: tool.MaxInlineResult},
	}
	result := s.await(ctx, of, c, w)
	if over, ok := result.(*mcp.CallToolResult); ok && over.Meta[metaGoesOn] == true {
		return nil, taskGoesOn(run.ID)
	} else if ok {
		over.Meta[metaRelatedTask] = map[string]any{"taskId": run.ID}
	}
	return result, nil
}

// awaitBegun waits until a worker has begun the call of a task, or it has ended.
func (s *Server) awaitBegun(ctx context.Context, of *session, c *Caller, run agent.Run) (agent.Run, error) {
	news, leave := s.cfg.Wakes.Subscribe(ctx, c.Principal.Tenant, run.ID)
	defer leave()
	poll := time.NewTicker(beginPoll)
	defer poll.Stop()
	late := time.NewTimer(s.cfg.CallWait)
	defer late.Stop()
	var closing <-chan struct{}
	if of != nil {
		closing = of.closing
	}
	for run.StartedAt == nil && !run.Status.Final() {
		changed := news()
		var err error
		if run, err = s.taskRun(ctx, c, run.ID); err != nil {
			return run, err
		}
		if run.StartedAt != nil || run.Status.Final() {
			break
		}
		select {
		case <-changed:
		case <-poll.C:
		case <-late.C:
			return run, taskGoesOn(run.ID)
		case <-closing:
			return run, taskGoesOn(run.ID)
		case <-c.gone:
			return run, taskGoesOn(run.ID)
		case <-s.cfg.Stopping(ctx):
			return run, taskGoesOn(run.ID)
		case <-ctx.Done():
			return run, taskGoesOn(run.ID)
		}
	}
	return run, nil
}

func taskGoesOn(id string) error {
	return &jsonrpc.Error{
		Code: jsonrpc.CodeInternalError, Message: "the task " + id + " has not ended yet: ask for its result again",
	}
}

// withTasks is the answer to initialize with the capability for tasks.
type withTasks struct{ *mcp.InitializeResult }

// MarshalJSON implements [json.Marshaler].
func (r withTasks) MarshalJSON() ([]byte, error) {
	return edited(r.InitializeResult, func(members map[string]json.RawMessage) error {
		var capabilities map[string]json.RawMessage
		if err := json.Unmarshal(members["capabilities"], &capabilities); err != nil {
			return fmt.Errorf("reading capabilities: %w", err)
		}
		capabilities["tasks"] = json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
		raw, err := json.Marshal(capabilities)
		members["capabilities"] = raw
		return err //nolint:wrapcheck // Plain values.
	})
}

// asTasks is a list of tools whose calls may be tasks.
type asTasks struct{ *mcp.ListToolsResult }

// MarshalJSON implements [json.Marshaler].
func (r asTasks) MarshalJSON() ([]byte, error) {
	return edited(r.ListToolsResult, func(members map[string]json.RawMessage) error {
		var tools []map[string]json.RawMessage
		if err := json.Unmarshal(members["tools"], &tools); err != nil {
			return fmt.Errorf("reading tools: %w", err)
		}
		for i, t := range r.Tools {
			if !inPlace(t.Name) {
				tools[i]["execution"] = json.RawMessage(`{"taskSupport":"optional"}`)
			}
		}
		raw, err := json.Marshal(tools)
		members["tools"] = raw
		return err //nolint:wrapcheck // Plain values.
	})
}

// inPlace reports whether calls of a tool of the server itself are answered at once, and are no runs.
func inPlace(name string) bool {
	return gated(name) || name == searchTools || name == describeTool || name == callTool
}

// edited writes a value with its members changed.
func edited(v any, change func(members map[string]json.RawMessage) error) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing an answer: %w", err)
	}
	var members map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&members); err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	if err := change(members); err != nil {
		return nil, err
	}
	return json.Marshal(members) //nolint:wrapcheck // Plain values.
}

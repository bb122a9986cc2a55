package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tasksExtension is the extension of revision 2026-07-28 by which a call may be answered with a task. Its tasks are
// those of [tasksRevision], the runs of calls, with other rules: the server decides which calls become tasks, the
// state of a task has its result or what it asks, and tasks/update takes the answers.
const tasksExtension = "io.modelcontextprotocol/tasks"

// methodUpdateTask answers what a task asks.
const methodUpdateTask = "tasks/update"

// nameHeader names, in a request of a revision without sessions, what the request is about.
const nameHeader = "Mcp-Name"

// extensionMethods are the methods of the extension. tasks/list and tasks/result are none of them.
var extensionMethods = []string{methodGetTask, methodUpdateTask, methodCancelTask}

const (
	// maxTaskQuestions bounds the questions that the state of a task has.
	maxTaskQuestions = 20
	// taskResultTimeout bounds the wait for the result of a run that has ended.
	taskResultTimeout = 5 * time.Second
)

// Result types of revision 2026-07-28.
const (
	typeComplete = "complete"
	typeTask     = "task"
)

// taskState is a task of the extension. What it has beside the first members depends on its status.
//
//nolint:tagliatelle // The protocol's names.
type taskState struct {
	ResultType    string              `json:"resultType"`
	ID            string              `json:"taskId"`
	Status        taskStatus          `json:"status"`
	StatusMessage string              `json:"statusMessage,omitempty"`
	CreatedAt     time.Time           `json:"createdAt"`
	LastUpdatedAt time.Time           `json:"lastUpdatedAt"`
	TTL           *int64              `json:"ttlMs"` // Null: it is kept for as long as its run is.
	PollInterval  int                 `json:"pollIntervalMs"`
	Result        mcp.Result          `json:"result,omitempty"`        // Completed.
	Error         *jsonrpc.Error      `json:"error,omitempty"`         // Failed.
	InputRequests mcp.InputRequestMap `json:"inputRequests,omitempty"` // Input required.
	Meta          mcp.Meta            `json:"_meta,omitempty"`
}

// acknowledged is the answer to what changes a task: its state tells what came of it.
func acknowledged() taskResult { return taskAnswer(map[string]string{"resultType": typeComplete}) }

// asExtension makes a message that is about tasks of the extension one that the library passes on, as [asTask] does
// for the older ones. It answers the request and reports false where its headers are not those of its message.
func asExtension(w http.ResponseWriter, r *http.Request, message []byte) (method string, rewritten []byte, ok bool) {
	if r.Header.Get(versionHeader) < statelessSince {
		return "", message, true
	}
	var members map[string]json.RawMessage
	var m struct {
		Method string                     `json:"method"`
		Params map[string]json.RawMessage `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil || !slices.Contains(extensionMethods, m.Method) ||
		json.Unmarshal(message, &members) != nil {
		return "", message, true
	}
	var id string
	_ = json.Unmarshal(m.Params["taskId"], &id) // Another type is no task's.
	if r.Header.Get(methodHeader) != m.Method || id == "" || r.Header.Get(nameHeader) != id {
		refuse(w, message, &jsonrpc.Error{
			Code:    mcp.CodeHeaderMismatch,
			Message: "the headers " + methodHeader + " and " + nameHeader + " have to be the message's method and taskId",
		})
		return "", nil, false
	}
	arguments := make(map[string]json.RawMessage, len(m.Params))
	for name, value := range m.Params {
		if name != "_meta" {
			arguments[name] = value
		}
	}
	params := map[string]any{"name": m.Method, "arguments": arguments}
	if meta := m.Params["_meta"]; meta != nil {
		params["_meta"] = meta
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return "", message, true
	}
	members["method"], members["params"] = json.RawMessage(`"`+methodCallTool+`"`), raw
	if rewritten, err = json.Marshal(members); err != nil {
		return "", message, true
	}
	r.Header = r.Header.Clone()
	r.Header.Set(methodHeader, methodCallTool)
	r.Header.Set(nameHeader, m.Method)
	return m.Method, rewritten, true
}

// refuse answers a message that never comes to the protocol with an error of it.
func refuse(w http.ResponseWriter, message []byte, refused *jsonrpc.Error) {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(message, &m) // Without an id, it is null.
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	// A failure cannot be reported any more.
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": refused})
}

// hasTasks reports whether the client of a request takes tasks for answers.
func hasTasks(req *mcp.CallToolRequest) bool {
	caps := req.ClientCapabilities()
	if caps == nil || req.ProtocolVersion() < statelessSince {
		return false
	}
	_, ok := caps.Extensions[tasksExtension]
	return ok
}

// lacksTasks refuses a request about tasks of a client that does not take them.
func lacksTasks() *jsonrpc.Error {
	data, _ := json.Marshal(map[string]any{ // It cannot fail.
		"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: struct{}{}}},
	})
	return &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Data: data,
		Message: "the request needs the capability for the extension " + tasksExtension,
	}
}

// asksForTasks reports whether a request that listens to changes wants to hear of tasks, which is the extension's too,
// and whether its client declares the extension.
func asksForTasks(r *http.Request, message []byte) (asks, declares bool) {
	if !Listens(r) || !bytes.Contains(message, []byte(`"taskIds"`)) {
		return false, false
	}
	var m struct {
		Params struct {
			Notifications struct {
				TaskIDs json.RawMessage `json:"taskIds"` //nolint:tagliatelle // The protocol's name.
			} `json:"notifications"`
			Meta struct {
				Capabilities struct {
					Extensions map[string]json.RawMessage `json:"extensions"`
				} `json:"io.modelcontextprotocol/clientCapabilities"` //nolint:tagliatelle // The protocol's name.
			} `json:"_meta"` //nolint:tagliatelle // The protocol's name.
		} `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil {
		return false, false
	}
	_, declares = m.Params.Meta.Capabilities.Extensions[tasksExtension]
	return m.Params.Notifications.TaskIDs != nil, declares
}

// extended adds the extension to what a server says of itself.
func extended(result *mcp.DiscoverResult) {
	if result.Capabilities == nil {
		return
	}
	caps := *result.Capabilities
	caps.Extensions = map[string]any{tasksExtension: map[string]any{}}
	result.Capabilities = &caps
}

package mcpbridge

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Codes of JSON-RPC errors that the bridge answers with itself.
const (
	codeParse       = -32700
	codeInvalid     = -32600
	codeNoMethod    = -32601
	codeUnavailable = -32000
)

// Methods that the bridge knows.
const (
	methodInitialize  = "initialize"
	methodDiscover    = "server/discover"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodListChanged = "notifications/tools/list_changed"
	methodCallTool    = "tools/call"
)

// Members of _meta: see package mcpserver.
const (
	metaCallID = "toolcrib/call-id"
	metaRejoin = "toolcrib/rejoin"
)

// message is one of JSON-RPC, in the form that it was sent.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`

	raw json.RawMessage
}

// read reads a message.
func read(raw []byte) (message, error) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("reading a message: %w", err)
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	m.raw = bytes.Clone(raw)
	return m, nil
}

// asks reports whether a message asks for an answer, and answers whether it is one.
func (m *message) asks() bool    { return m.Method != "" && m.ID != nil }
func (m *message) answers() bool { return m.Method == "" && m.ID != nil }

// refuses reports whether a message is an answer to a request that the server could not read.
func (m *message) refuses() bool { return m.Method == "" && m.ID == nil && m.failure().Message != "" }

// problem is why a request failed.
type problem struct {
	Message string `json:"message"`
	Data    struct {
		Retryable bool `json:"retryable"`
	} `json:"data"`
}

// failure returns why a request failed that a message answers; nothing where it did not.
func (m *message) failure() (p problem) {
	var text struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(m.Error, &p) != nil && json.Unmarshal(m.Error, &text) == nil { // The data may be anything.
		p = problem{Message: text.Message}
	}
	return p
}

// with returns the message with a member replaced.
func (m *message) with(member string, value json.RawMessage) json.RawMessage {
	return set(m.raw, member, value)
}

// set returns an object with a member replaced.
func set(object json.RawMessage, member string, value json.RawMessage) json.RawMessage {
	all, ok := members(object)
	if !ok {
		return object
	}
	all[member] = value
	out, err := json.Marshal(all)
	if err != nil {
		return object
	}
	return out
}

// named returns the call of a tool with an id that makes it once: the client's, or one of the bridge. It
// reports false for a call that has no place for one.
func (m *message) named() (json.RawMessage, bool) {
	params, ok := members(m.Params)
	if !ok {
		return m.raw, false
	}
	meta, ok := members(params["_meta"])
	if !ok {
		return m.raw, false
	}
	if given := meta[metaCallID]; len(given) > 0 && string(given) != "null" {
		return m.raw, true
	}
	meta[metaCallID] = quoted("bridge-" + rand.Text())
	raw, err := json.Marshal(meta)
	if err != nil {
		return m.raw, false
	}
	params["_meta"] = raw
	if raw, err = json.Marshal(params); err != nil {
		return m.raw, false
	}
	return m.with("params", raw), true
}

// members returns those of an object, by their exact names, and none for what is absent or null. It reports
// false for anything else.
func members(object json.RawMessage) (map[string]json.RawMessage, bool) {
	out := map[string]json.RawMessage{}
	if len(object) > 0 && json.Unmarshal(object, &out) != nil {
		return nil, false
	}
	if out == nil { // It was null.
		out = map[string]json.RawMessage{}
	}
	return out, true
}

// interrupted reports whether the answer to a named call says that the server stopped before the call had
// ended.
func (m *message) interrupted() bool {
	var result struct {
		Meta map[string]json.RawMessage `json:"_meta"` //nolint:tagliatelle // The protocol's name.
	}
	return json.Unmarshal(m.Result, &result) == nil && string(result.Meta[metaRejoin]) == "true"
}

// cancels returns the id of the request that a notification cancels; nil for none.
func (m *message) cancels() json.RawMessage {
	params, _ := members(m.Params) // No id is that of no request.
	return params["requestId"]
}

// wireID returns an id that no request of the bridge had at the server.
func (b *bridge) wireID() json.RawMessage {
	return quoted("bridge-" + strconv.FormatInt(b.ids.Add(1), 10))
}

// key returns the same text for ids that are equal, however they are written.
func key(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return strconv.Quote(text)
	}
	// Beyond, numbers of their own have one value.
	const exact = 1 << 53
	if n, err := strconv.ParseFloat(string(id), 64); err == nil && n == math.Trunc(n) && math.Abs(n) < exact {
		return strconv.FormatInt(int64(n), 10)
	}
	return string(id)
}

// fromServer returns the id by which the client knows a request of the server: servers number theirs anew in
// each session, and an answer to one must not be taken for an answer to another.
func fromServer(epoch int, id json.RawMessage) json.RawMessage {
	return quoted(fmt.Sprintf("%d:%s", epoch, id))
}

// toServer returns the server's id of a request that the client answers, and reports whether it is one of the
// session.
func toServer(epoch int, id json.RawMessage) (json.RawMessage, bool) {
	var text string
	if json.Unmarshal(id, &text) != nil {
		return nil, false
	}
	own, ok := strings.CutPrefix(text, fmt.Sprintf("%d:", epoch))
	return json.RawMessage(own), ok && json.Valid([]byte(own))
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // A string: it cannot fail.
	return raw
}

// failure returns the answer that a request failed.
func failure(id json.RawMessage, code int, text string) json.RawMessage {
	if id == nil {
		id = json.RawMessage("null")
	}
	raw, _ := json.Marshal(map[string]any{ // Texts and numbers: it cannot fail.
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text},
	})
	return raw
}

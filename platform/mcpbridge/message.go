package mcpbridge

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
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

// with returns the message with a member replaced.
func (m *message) with(member string, value json.RawMessage) json.RawMessage {
	return set(m.raw, member, value)
}

// set returns an object with a member replaced.
func set(object json.RawMessage, member string, value json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	if len(object) > 0 && json.Unmarshal(object, &members) != nil {
		return object
	}
	members[member] = value
	out, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return out
}

// named returns the call of a tool with an id that makes it once: the client's, or one of the bridge.
func (m *message) named() json.RawMessage {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"` //nolint:tagliatelle // The protocol's name.
	}
	if json.Unmarshal(m.Params, &params) != nil || params.Meta[metaCallID] != nil {
		return m.raw
	}
	meta := make(map[string]json.RawMessage, len(params.Meta)+1)
	maps.Copy(meta, params.Meta)
	meta[metaCallID] = quoted("bridge-" + rand.Text())
	raw, err := json.Marshal(meta)
	if err != nil {
		return m.raw
	}
	return m.with("params", set(m.Params, "_meta", raw))
}

// interrupted reports whether the answer to a named call says that the server stopped before the call had
// ended.
func (m *message) interrupted() bool {
	var result struct {
		Meta map[string]json.RawMessage `json:"_meta"` //nolint:tagliatelle // The protocol's name.
	}
	return json.Unmarshal(m.Result, &result) == nil && string(result.Meta[metaRejoin]) == "true"
}

// cancels returns the id of the request that a notification cancels.
func (m *message) cancels() string {
	var params struct {
		RequestID json.RawMessage `json:"requestId"` //nolint:tagliatelle // The protocol's name.
	}
	_ = json.Unmarshal(m.Params, &params) // No id is that of no request.
	return string(params.RequestID)
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

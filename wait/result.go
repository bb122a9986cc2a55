package wait

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// DefaultResult returns the result of a call that requires no response, or nil where one
// is waited for: a response is required if the definition says so, or has no default
// result (checklist S4-18, S4-19). A call that is asynchronous has none either.
func DefaultResult(i *tool.Interaction) (*tool.Result, error) {
	if i.RequiresResponse || i.Async || len(i.DefaultResult) == 0 {
		return nil, nil //nolint:nilnil // There is none.
	}
	return ReadResult(i.DefaultResult)
}

// ReadResult returns the result that a program outside gives as a JSON value: content
// blocks, if it is a list of them; a text, if it is a string; else the value.
func ReadResult(raw json.RawMessage) (*tool.Result, error) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "wait.ReadResult", Msg: "the result is not JSON"}
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, &tool.Error{Kind: tool.Invalid, Op: "wait.ReadResult", Msg: "the result is not a JSON string", Err: err}
		}
		return &tool.Result{Content: []tool.Content{tool.Text(text)}, Structured: raw}, nil
	}
	if blocks, ok := readBlocks(raw); ok {
		return &tool.Result{Content: blocks}, nil
	}
	return tool.JSONResult(raw), nil
}

// readBlocks reads a list of content blocks, each of which is a text or a JSON value.
func readBlocks(raw json.RawMessage) ([]tool.Content, bool) {
	if raw[0] != '[' {
		return nil, false
	}
	var blocks []tool.Content
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&blocks) != nil || len(blocks) == 0 {
		return nil, false
	}
	for _, b := range blocks {
		switch {
		case b.Type == tool.ContentText && b.Text != "":
		case b.Type == tool.ContentJSON && json.Valid(b.JSON):
		default:
			return nil, false
		}
	}
	return blocks, true
}

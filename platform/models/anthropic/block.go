package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// blockKind is the kind of a block of an answer.
type blockKind int

const (
	textBlock    blockKind = iota
	callBlock              // Of one of our tools.
	toolBlock              // The use or the result of a tool of the provider's own.
	thoughtBlock           // Needed only while an answer is continued after a pause.
	otherBlock             // Unknown, ignored.
)

// block is a piece of an answer.
type block struct {
	kind      blockKind
	id, name  string          // Of a call or a use.
	text      strings.Builder // The text or thought, or the arguments of a call or a use, verbatim.
	signature string          // Of a thought.
	raw       json.RawMessage // Verbatim, or as it started; not of texts and calls.
}

// newBlock returns a block from its first event; nil if it does not have the
// documented shape.
func newBlock(kind, id, name, raw string) *block {
	b := &block{id: id, name: name}
	switch {
	case kind == "", kind == "tool_use" && name == "":
		return nil
	case kind == "text":
		b.kind, b.name = textBlock, ""
	case kind == "tool_use":
		b.kind = callBlock
	case kind == "server_tool_use", kind == "mcp_tool_use", strings.HasSuffix(kind, "_tool_result"):
		b.kind, b.raw = toolBlock, json.RawMessage(raw)
	case kind == "thinking", kind == "redacted_thinking":
		b.kind, b.raw = thoughtBlock, json.RawMessage(raw)
	default:
		b.kind = otherBlock
	}
	return b
}

// whole returns a block that is neither text nor call, as JSON, with the data
// of its later events.
func (b *block) whole() json.RawMessage {
	if b.text.Len() == 0 && b.signature == "" {
		return b.raw
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b.raw, &members) != nil {
		return b.raw
	}
	set := func(name, text string) { members[name], _ = json.Marshal(text) } // A string always encodes.
	switch {
	case b.kind == thoughtBlock:
		set("thinking", b.text.String())
		set("signature", b.signature)
	case json.Valid([]byte(b.text.String())):
		members["input"] = json.RawMessage(b.text.String())
	}
	out, err := json.Marshal(members)
	if err != nil {
		return b.raw
	}
	return out
}

// param returns the block as a parameter of a request.
func (b *block) param() sdk.ContentBlockParamUnion {
	switch b.kind {
	case textBlock:
		return sdk.NewTextBlock(b.text.String())
	case callBlock:
		return sdk.NewToolUseBlock(b.id, remote.WriteArguments(remote.ReadArguments(b.text.String())), b.name)
	case toolBlock, thoughtBlock, otherBlock:
	}
	return rawBlock(b.whole())
}

func rawBlock(raw json.RawMessage) sdk.ContentBlockParamUnion {
	return param.Override[sdk.ContentBlockParamUnion](raw)
}

// soFar returns the message from which a paused answer is continued; nil if
// there is nothing to continue from.
func (a *answer) soFar() []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	for _, b := range a.blocks {
		if b.kind != textBlock || strings.TrimSpace(b.text.String()) != "" {
			out = append(out, b.param())
		}
	}
	return out
}

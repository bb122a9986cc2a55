package httpcall

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Limits of a configuration, and of the request it makes from arguments: each
// reference may be to all of them.
const (
	maxConfigBytes = 64 << 10
	maxReferences  = 256 // To arguments, in URL, headers, query and body together.
	maxDepth       = 64  // Of a body, and of a pointer.

	maxURLBytes    = 8 << 10 // With its query.
	maxHeaderBytes = 32 << 10
	maxBodyBytes   = 4 << 20
)

// room is the unused part of a limit.
type room struct {
	left int
	full string // The message when it is used up.
}

func urlRoom() *room {
	return &room{maxURLBytes, fmt.Sprintf("the request's URL would be more than %d bytes", maxURLBytes)}
}

func headerRoom() *room {
	return &room{maxHeaderBytes, fmt.Sprintf("the request's headers would be more than %d bytes", maxHeaderBytes)}
}

func bodyRoom() *room {
	return &room{maxBodyBytes, fmt.Sprintf("the request's body would be more than %d bytes", maxBodyBytes)}
}

// take uses n bytes for the argument at path.
func (r *room) take(path string, n int) error {
	if n > r.left {
		r.left = 0
		return argument(path, r.full)
	}
	r.left -= n
	return nil
}

// fits refuses an argument that cannot fit into the rest of the limit, however it
// is escaped, before it is decoded.
func (r *room) fits(path string, raw []byte) error {
	const escaped = 8 // The longest escape of one byte, such as \u0041, and a comma.
	if len(raw)/escaped > r.left {
		return argument(path, r.full)
	}
	return nil
}

// ended returns the error of a call whose context ended before its request was
// written; nil while it has not.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	out := &tool.Error{
		Kind: tool.Timeout, Op: "httpcall.Execute", Msg: "the call's deadline passed before its request was sent",
		Err: context.Cause(ctx),
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		out.Kind, out.Msg = tool.Cancelled, "the call was cancelled"
	}
	return out
}

// sink is a bounded buffer: a few references to large arguments could otherwise
// fill memory.
type sink struct {
	bytes.Buffer
	max  int
	full error // The error at the limit.
}

func bodySink() *sink {
	return &sink{
		max: maxBodyBytes, full: argument("", fmt.Sprintf("the request's body would be more than %d bytes", maxBodyBytes)),
	}
}

// put appends text, up to the limit.
func (b *sink) put(text []byte) error {
	if b.Len()+len(text) > b.max {
		return b.full
	}
	_, _ = b.Write(text)
	return nil
}

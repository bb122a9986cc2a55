package mcpcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// errSessionLost means that the server has expired the session and did not take the
// call, which is safe to retry in a new session.
var errSessionLost = errors.New("the server has forgotten the session")

// errUnknownTool means that a server refused the parameters of a call: it does not
// have the tool, or refuses its arguments.
var errUnknownTool = errors.New("the server refused the call's parameters")

// outcome returns the result or error of a call:
//
//   - a result: returned, as an error result where isError is set;
//   - a result above the size limit: an error result that asks for less;
//   - an answer without an end: Unavailable and Sent, so that a call that must
//     not be repeated ends unknown;
//   - a JSON-RPC error: see [refusal];
//   - 401, 403, 407: the credential was rejected, so Denied;
//   - 408, 425, 429: RateLimited, with the server's Retry-After;
//   - any other status without an answer, and a malformed answer: Unavailable,
//     Answered;
//   - no answer: Timeout, Cancelled or Unavailable, Sent where the call may have
//     been sent.
//
// Errors of the SDK quote untrusted text and are ignored.
func (c *conn) outcome(ctx context.Context) (*tool.Result, error) {
	seen := c.peer.of(methodCall)
	at, stream := c.exchange(methodCall), c.exchange(http.MethodGet)
	sent := seen.written && (at.failed == nil || at.failed.Sent)
	if rpc, ok := errors.AsType[*jsonrpc.Error](seen.answer.err); seen.answered && ok {
		return refusal(secret.RedactorFrom(ctx), rpc)
	}
	if seen.answered && seen.answer.err == nil {
		return c.result(secret.RedactorFrom(ctx), seen)
	}
	if seen.fault != nil {
		e := *seen.fault
		e.Sent = sent
		return nil, &e
	}
	if at.endless || stream.endless {
		return nil, &tool.Error{
			Kind: tool.Unavailable, Op: "mcpcall.Execute", Sent: true,
			Msg: fmt.Sprintf(
				"the server's answer had no end within the limit of %d bytes: ask for less, such as fewer items or fields",
				c.target.limit,
			),
		}
	}
	if at.overflow > 0 || stream.overflow > 0 {
		return tooLong(max(at.overflow, stream.overflow)), nil
	}
	if at.refusal != nil &&
		(at.status == http.StatusBadRequest && !(at.lost && c.resumed) || at.status == http.StatusNotFound && !at.lost) {
		return refusal(secret.RedactorFrom(ctx), at.refusal)
	}
	if at.status >= http.StatusMultipleChoices {
		return nil, at.refused(true)
	}
	if at.failed != nil {
		e := *at.failed
		e.Op = "mcpcall.Execute"
		return nil, &e
	}
	if ended := endedBy(ctx); ended != nil {
		ended.Sent = sent
		return nil, ended
	}
	out := &tool.Error{
		Kind: tool.Unavailable, Op: "mcpcall.Execute", Msg: "the server closed the connection before it answered", Sent: sent,
	}
	switch {
	case at.status == http.StatusAccepted && c.target.server.Kind() != transportSSE:
		out.Msg = "the server accepted the call and did not answer"
	case at.status != 0 && c.target.server.Kind() != transportSSE:
		out.Msg = "the server's answer does not follow the protocol"
	case !sent:
		out.Msg = "the server can't be reached"
	}
	return nil, out
}

func (c *conn) result(known *secret.Redactor, s seen) (*tool.Result, error) {
	if n := int64(len(s.answer.result)); n > c.target.limit {
		return tooLong(c.target.limit), nil
	}
	res, err := readResult(known, s.answer.result)
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return nil, e
	}
	if err != nil {
		return nil, &tool.Error{
			Kind: tool.Unavailable, Op: "mcpcall.Execute", Msg: "the server's answer is not a tool's result: " + err.Error(),
			Sent: true, Answered: true,
		}
	}
	return res, nil
}

func tooLong(limit int64) *tool.Result {
	return tool.ErrorResult(fmt.Sprintf(
		"the server answered more than the limit of %d bytes: ask for less, such as fewer items or fields", limit,
	))
}

// refusal returns the outcome of a call answered by a JSON-RPC error:
//
//   - method not found: the server has no tools, so the definition is wrong;
//   - invalid parameters: an error result if the server has the tool, see
//     [errUnknownTool];
//   - a URL that a person must visit: Denied;
//   - an internal error, or that our request is malformed: Unavailable;
//   - any other: an error result.
func refusal(known *secret.Redactor, e *jsonrpc.Error) (*tool.Result, error) {
	out := &tool.Error{Op: "mcpcall.Execute", Sent: true, Answered: true}
	switch e.Code {
	case jsonrpc.CodeInvalidParams:
		out.Kind, out.Msg, out.Err = tool.Conflict, "the server refused the call's parameters: "+
			redact(known, e.Message, maxExcerptBytes), errUnknownTool
	case jsonrpc.CodeMethodNotFound:
		out.Kind, out.Msg = tool.Conflict, "the server has no tools to call"
	case mcp.CodeURLElicitationRequired:
		out.Kind, out.Msg = tool.Denied, "the server asks a person to visit a URL first, which this platform does "+
			"not support"
	case jsonrpc.CodeInternalError, jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest, mcp.CodeUnsupportedProtocolVersion:
		out.Kind, out.Msg = tool.Unavailable, fmt.Sprintf("the server failed: it answered with the error %d", e.Code)
	default:
		return tool.ErrorResult(fmt.Sprintf("the server answered with the error %d: %s", e.Code,
			redact(known, e.Message, maxExcerptBytes))), nil
	}
	return nil, out
}

// refused returns the error for a failure status.
func (at exchange) refused(sent bool) *tool.Error {
	out := &tool.Error{Op: "mcpcall.Execute", Sent: sent, Answered: sent, RetryAfter: at.retryAfter}
	text := fmt.Sprintf("it answered %d %s", at.status, http.StatusText(at.status))
	switch {
	case at.lost:
		out.Kind, out.Msg, out.Err = tool.Unavailable, "the server expired its session: "+text, errSessionLost
	case at.status == http.StatusUnauthorized, at.status == http.StatusForbidden,
		at.status == http.StatusProxyAuthRequired:
		out.Kind, out.Msg = tool.Denied, "the server did not accept the tool's credential: "+text
	case at.status == http.StatusRequestTimeout, at.status == http.StatusTooEarly, at.status == http.StatusTooManyRequests:
		out.Kind, out.Msg = tool.RateLimited, "the server limits the rate of requests: "+text
	case at.status >= http.StatusInternalServerError:
		out.Kind, out.Msg = tool.Unavailable, "the server failed: "+text
	case at.status < http.StatusBadRequest:
		out.Kind, out.Msg = tool.Unavailable, "the server redirects elsewhere, which is not followed: put the address it "+
			"moved to in server_url"
	default:
		out.Kind, out.Msg = tool.Unavailable, "the server does not take the request, is it an MCP server? "+text
	}
	if out.Kind == tool.Denied {
		out.RetryAfter = 0
	}
	return out
}

// endedBy returns the error of a call whose context has ended; nil while it has not.
func endedBy(ctx context.Context) *tool.Error {
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return &tool.Error{
			Kind: tool.Cancelled, Op: "mcpcall.Execute", Msg: "the call was cancelled", Err: context.Cause(ctx),
		}
	default:
		return &tool.Error{
			Kind: tool.Timeout, Op: "mcpcall.Execute", Msg: "the server did not answer in time", Err: context.Cause(ctx),
		}
	}
}

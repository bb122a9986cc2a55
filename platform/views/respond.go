package views

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Response is a person's answer to a request for input, submitted by a program that showed them its form.
type Response struct {
	Principal tool.Principal // Of who submits.
	Token     string         // Of a link to the request's page, or the link itself.
	Answer    json.RawMessage
}

var errNoRequest = &tool.Error{
	Kind: tool.NotFound, Op: "views.Respond", Path: "/token",
	Msg: "the token opens no request for input: it may have expired, or been revoked",
}

// Respond submits a response. It is checked in five steps, each of which refuses it where it cannot be passed: the
// token opens a request, of the principal's tenant; the principal may submit results; the request takes an answer,
// or has this very one; the answer fits its form. The request keeps its first answer, and what waits for it is woken
// by package runs.
//
// It fails with tool.NotFound for a token that opens no request of the tenant, with tool.Denied without
// [wait.SubmitPermission], with tool.Conflict for a request that has another answer or takes none any more, and with
// tool.Invalid for an answer that does not fit.
func (s *Service) Respond(ctx context.Context, r Response) (runs.Submitted, error) {
	call, err := s.opened(ctx, r.Token)
	if err != nil {
		return runs.Submitted{}, err
	}
	if call.Principal.Tenant != r.Principal.Tenant { // As one that does not exist.
		return runs.Submitted{}, errNoRequest
	}
	if !r.Principal.May(wait.SubmitPermission) {
		lacking := &tool.PermissionError{Permissions: []string{wait.SubmitPermission}}
		return runs.Submitted{}, &tool.Error{Kind: tool.Denied, Op: "views.Respond", Msg: lacking.Error(), Err: lacking}
	}
	if done, err := before(&call, r.Answer); done || err != nil {
		return runs.Submitted{Call: call, Repeated: done}, err
	}
	given, err := s.cfg.Runs.SubmitResult(ctx, runs.Submission{Principal: r.Principal, ID: call.ID, Result: r.Answer})
	if err == nil && given.Repeated { // Another was first.
		_, err = before(&given.Call, r.Answer)
	}
	return given, err //nolint:wrapcheck // Its words are the caller's.
}

// opened returns the request that a token opens.
func (s *Service) opened(ctx context.Context, text string) (wait.Call, error) {
	if at := strings.LastIndex(text, input.Path); at >= 0 {
		text = text[at+len(input.Path):]
	}
	token, ok := input.ReadToken(text)
	if !ok {
		return wait.Call{}, errNoRequest
	}
	call, err := s.cfg.Record.FindCall(ctx, token.Tenant, token.CallID)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound, err == nil && !token.Opens(&call, s.cfg.Now()):
		return wait.Call{}, errNoRequest
	case err != nil:
		return wait.Call{}, fmt.Errorf("finding a request for input: %w", err)
	}
	return call, nil
}

// before reports whether a request has this very answer already. It fails where it has another, or takes none.
func before(call *wait.Call, raw json.RawMessage) (bool, error) {
	switch {
	case call.Status == wait.CallResolved && sameAnswer(call, raw):
		return true, nil
	case call.Status == wait.CallResolved:
		return false, &tool.Error{
			Kind: tool.Conflict, Op: "views.Respond", Msg: "the request has another answer, which it keeps",
		}
	case !call.Status.Open():
		return false, &tool.Error{
			Kind: tool.Conflict, Op: "views.Respond", Msg: "the request takes no answer any more",
		}
	}
	return false, nil
}

// sameAnswer reports whether an answer is the one that a request has, once it is read by its form. One with files or
// drawings never is.
func sameAnswer(call *wait.Call, raw json.RawMessage) bool {
	if call.Result == nil {
		return false
	}
	spec, err := input.Read(call.Arguments)
	if err != nil {
		return false
	}
	answer, err := spec.ReadResult(call.ID, raw, nil)
	if err != nil {
		return false
	}
	packet, err := answer.Result(call.ID, nil)
	if err != nil {
		return false
	}
	return sameJSON(packet, call.Result.Structured)
}

// sameJSON compares two values, whatever the order of their members.
func sameJSON(a, b []byte) bool {
	var one, two any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &two) != nil {
		return false
	}
	first, _ := json.Marshal(one) // What was read can be written, with members in order.
	second, _ := json.Marshal(two)
	return bytes.Equal(first, second)
}

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// report prints an error: a sentence, or with --json a problem.
func (a *app) report(ctx context.Context, err error) {
	if _, ok := errors.AsType[*silentError](err); ok {
		return
	}
	if ctx.Err() != nil {
		err = &tool.Error{Kind: tool.Cancelled, Msg: "interrupted"}
	}
	if a.flags.json {
		_ = json.NewEncoder(a.env.Err).Encode(map[string]any{"error": asProblem(err)}) // No way left to report it.
		return
	}
	_, _ = fmt.Fprintf(a.env.Err, "toolcrib: %s\n", cleanLines(explain(err)))
	if e, ok := errors.AsType[*FileError](err); ok {
		_ = e.show(a.env.Err)
	}
	if hint := a.hint(err); hint != "" {
		_, _ = fmt.Fprintf(a.env.Err, "%s\n", hint)
	}
}

func asProblem(err error) *v1.Problem {
	if p, ok := client.Problem(err); ok {
		return p
	}
	p := &v1.Problem{Title: "failed", Code: tool.InternalError, Detail: explain(err)}
	if _, ok := errors.AsType[*UsageError](err); ok {
		p.Title, p.Code = "wrong usage", tool.Invalid
	} else if _, ok := errors.AsType[*FileError](err); ok {
		p.Title, p.Code = "malformed file", tool.Invalid
	} else if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		p.Title, p.Code, p.Retryable = "unreachable", tool.Unavailable, tool.AsError(err).Retryable()
	} else if e, ok := errors.AsType[*tool.Error](err); ok {
		p.Code, p.Path, p.Retryable = e.Kind, e.Path, e.Retryable()
	}
	return p
}

// explain returns the message that a person gets for err. A [*tool.Error] of
// our own may have a cause that helps, such as an error of the database.
func explain(err error) string {
	if p, ok := client.Problem(err); ok {
		return p.Error()
	}
	if e, ok := errors.AsType[*client.UnreachableError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Msg != "" {
		return e.Msg
	}
	return err.Error()
}

// hintedError is an error with a hint on how to fix it.
type hintedError struct {
	error
	hint string
}

// Unwrap returns the failure.
func (e *hintedError) Unwrap() error { return e.error }

// hint returns what to do about err, if that is known.
func (a *app) hint(err error) string {
	if e, ok := errors.AsType[*hintedError](err); ok {
		return clean(e.hint)
	}
	if e, ok := errors.AsType[*client.UnreachableError](err); ok {
		return a.reachHint(e)
	}
	if _, ok := errors.AsType[*client.StrangerError](err); ok {
		return a.serverFrom()
	}
	p, ok := client.Problem(err)
	switch {
	case !ok:
		return ""
	case p.Status == http.StatusUnauthorized:
		return a.keyHint()
	case len(p.Permissions) > 0:
		return fmt.Sprintf("A key that may grant it makes one that has it: toolcrib key create NAME --permission %s\n"+
			"toolcrib key list shows what keys may do.", clean(p.Permissions[0]))
	case p.Status == http.StatusForbidden && p.Instance != "":
		return "toolcrib run show " + clean(path.Base(p.Instance)) +
			" shows the call, and toolcrib tool explain " + clean(cmp.Or(a.called, "TOOL")) + " what decides."
	case p.Code == tool.InternalError && p.TraceID != "":
		return "The server's log has it under trace_id " + clean(p.TraceID) + "."
	}
	return ""
}

// reachHint says what to do about a server that gives no answer.
func (a *app) reachHint(e *client.UnreachableError) string {
	switch e.Reason {
	case client.BadCertificate:
		return "If the authority is your own, name its certificates in SSL_CERT_FILE.\n" + a.serverFrom()
	case client.NoTLS:
		return "Try http:// in place of https://, if that server is meant.\n" + a.serverFrom()
	case client.NotAnswering, client.NoSuchHost, client.Refused:
		return "Start one with: toolcrib dev\nor say where it is with --server, TOOLCRIB_SERVER or a context. " +
			a.serverFrom()
	default:
		return a.serverFrom()
	}
}

// serverFrom says where the name of the server comes from.
func (a *app) serverFrom() string {
	c, err := a.connection()
	if err != nil {
		return ""
	}
	return "The server comes from " + clean(c.server.from) + "."
}

// keyHint says what to do about a key that the server does not take.
func (a *app) keyHint() string {
	c, err := a.connection()
	switch {
	case err != nil:
		return ""
	case c.key.value == "" && c.kept != "":
		return "For " + clean(c.server.value) + ", say who you are with --key: " + clean(c.kept) + "."
	case c.key.value == "":
		return "Say who you are with --key, TOOLCRIB_KEY or a context; toolcrib dev keeps a key in its data folder (--data)."
	case !strings.HasPrefix(c.key.value, store.KeyPrefix):
		return fmt.Sprintf("The key comes from %s and does not look like one: keys begin with %s", clean(c.key.from),
			store.KeyPrefix)
	default:
		return fmt.Sprintf("The key comes from %s. It may be mistyped, expired, revoked, or for another server: %s "+
			"comes from %s.",
			clean(c.key.from), clean(c.server.value), clean(c.server.from))
	}
}

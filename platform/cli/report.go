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
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// report prints an error: a sentence, or with --json a problem.
func (a *App) report(ctx context.Context, err error) {
	if _, ok := errors.AsType[*ExitError](err); ok {
		return
	}
	if ctx.Err() != nil {
		err = &tool.Error{Kind: tool.Cancelled, Msg: "interrupted"}
	}
	if a.flags.json {
		_ = json.NewEncoder(a.Env.Err).Encode(map[string]any{"error": asProblem(err)}) // No way left to report it.
		return
	}
	_, _ = fmt.Fprintf(a.Env.Err, "toolcrib: %s\n", terminal.CleanLines(explain(err)))
	if e, ok := errors.AsType[*definition.FileError](err); ok {
		_ = e.Show(a.Env.Err)
	}
	if hint := a.hint(err); hint != "" {
		_, _ = fmt.Fprintf(a.Env.Err, "%s\n", hint)
	}
}

func asProblem(err error) *v1.Problem {
	if p, ok := client.Problem(err); ok {
		return p
	}
	p := &v1.Problem{Title: "failed", Code: tool.InternalError, Detail: explain(err)}
	if _, ok := errors.AsType[*UsageError](err); ok {
		p.Title, p.Code = "wrong usage", tool.Invalid
	} else if _, ok := errors.AsType[*definition.FileError](err); ok {
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

// WithHint adds a sentence to err that says how to fix it.
func WithHint(err error, hint string) error { return &hintedError{error: err, hint: hint} }

// Unwrap returns the failure.
func (e *hintedError) Unwrap() error { return e.error }

// hint returns what to do about err, if that is known.
func (a *App) hint(err error) string {
	if e, ok := errors.AsType[*hintedError](err); ok {
		return terminal.Clean(e.hint)
	}
	if e, ok := errors.AsType[*client.UnreachableError](err); ok {
		return a.reachHint(e)
	}
	if _, ok := errors.AsType[*client.NotToolcribError](err); ok {
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
			"toolcrib key list shows what keys may do.", terminal.Clean(p.Permissions[0]))
	case p.Status == http.StatusForbidden && p.Instance != "":
		return "toolcrib run show " + terminal.Clean(path.Base(p.Instance)) +
			" shows the call, and toolcrib tool explain " + terminal.Clean(cmp.Or(a.Called, "TOOL")) + " what decides."
	case p.Status == http.StatusNotFound:
		return listHint(p.Detail)
	case p.Code == tool.InternalError && p.TraceID != "":
		return "The server's log has it under trace_id " + terminal.Clean(p.TraceID) + "."
	}
	return ""
}

// lists are the commands that list what an answer of the server says is not found, by how it calls that.
var lists = map[string]string{
	"agent": "agent", "approval": "approvals", "artifact": "artifact", "budget": "budget", "credential": "credential",
	"invocation": "invocations", "pipeline": "pipeline", "profile": "profile", "role": "role", "run": "run",
	"schedule": "schedule", "space": "space", "tool": "tool", "toolset": "toolset", "view": "view", "webhook": "webhook",
}

// listHint says which command lists those there are, of what was not found.
func listHint(detail string) string {
	kind, rest, _ := strings.Cut(detail, " ")
	if command := lists[kind]; command != "" && strings.HasSuffix(rest, "not found") {
		return "toolcrib " + command + " list shows those there are."
	}
	return ""
}

// reachHint says what to do about a server that gives no answer.
func (a *App) reachHint(e *client.UnreachableError) string {
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
func (a *App) serverFrom() string {
	c, err := a.connection()
	if err != nil {
		return ""
	}
	return "The server comes from " + terminal.Clean(c.server.from) + "."
}

// keyHint says what to do about a key that the server does not take.
func (a *App) keyHint() string {
	c, err := a.connection()
	switch {
	case err != nil:
		return ""
	case c.key.value == "" && c.kept != "":
		return "For " + terminal.Clean(c.server.value) + ", say who you are with --key: " + terminal.Clean(c.kept) + "."
	case c.key.value == "":
		return "Say who you are with --key, TOOLCRIB_KEY or a context; toolcrib dev keeps a key in its data folder (--data)."
	case strings.HasPrefix(c.key.value, v1.SubmitTokenPrefix):
		return fmt.Sprintf("The token comes from %s. It is of one call, for toolcrib results show and submit: "+
			"toolcrib results token CALL makes one.", terminal.Clean(c.key.from))
	case !strings.HasPrefix(c.key.value, store.KeyPrefix):
		return fmt.Sprintf("The key comes from %s and does not look like one: keys begin with %s", terminal.Clean(c.key.from),
			store.KeyPrefix)
	default:
		return fmt.Sprintf("The key comes from %s. It may be mistyped, expired, revoked, or for another server: %s "+
			"comes from %s.",
			terminal.Clean(c.key.from), terminal.Clean(c.server.value), terminal.Clean(c.server.from))
	}
}

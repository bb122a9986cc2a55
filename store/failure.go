package store

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/tool"
)

// SQLSTATE codes, and classes of them, that mean something to a caller.
const (
	codeInvalidParameter    = "22023"
	codeRestrictViolation   = "23001"
	codeForeignKeyViolation = "23503"
	codeUniqueViolation     = "23505"
	codeSerialization       = "40001"
	codeDeadlock            = "40P01"
	codeInsufficient        = "42501"
	codeUndefinedTable      = "42P01"
	codeDuplicateObject     = "42710"
	codeLockNotAvailable    = "55P03"
	codeConcurrentUpdate    = "XX000" // "tuple concurrently updated", which has no code of its own.
	codeQueryCanceled       = "57014"

	classData       = "22"
	classIntegrity  = "23"
	classConnection = "08"
	classResources  = "53"
	classLimit      = "54"
	classOperator   = "57"
)

// failure classifies what the database said. The text of the database stays in
// the cause.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	e := &tool.Error{Op: op, Err: err}
	pgErr, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		e.Kind, e.Msg = tool.NotFound, "not found"
	case answered:
		e.Kind, e.Msg = answerKind(pgErr.Code)
	case errors.Is(err, context.Canceled):
		e.Kind, e.Msg = tool.Cancelled, "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Msg = tool.Timeout, "the database took too long"
	case disconnected(err):
		e.Kind, e.Msg = tool.Unavailable, "the database is not answering"
	default:
		e.Kind, e.Msg = tool.InternalError, "internal error"
	}
	return e
}

func answerKind(code string) (tool.Kind, string) {
	switch code {
	case codeUniqueViolation:
		return tool.Conflict, "it exists already"
	case codeForeignKeyViolation:
		return tool.NotFound, "it refers to something that does not exist"
	case codeRestrictViolation:
		return tool.Conflict, "it must not change any more"
	case codeInsufficient:
		return tool.Denied, "the database role may not do this"
	case codeSerialization, codeDeadlock, codeLockNotAvailable:
		return tool.Unavailable, "the database is too busy with the same rows"
	case codeQueryCanceled:
		return tool.Timeout, "the database took too long"
	}
	switch code[:min(2, len(code))] {
	case classData, classIntegrity, classLimit:
		return tool.Invalid, "a value is not acceptable"
	case classConnection, classResources, classOperator:
		return tool.Unavailable, "the database is not available"
	default:
		return tool.InternalError, "internal error"
	}
}

// disconnected reports whether err tells of the connection rather than of what
// was asked.
func disconnected(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err)
}

// constraintOf returns the constraint or index that refused a row.
func constraintOf(err error) string {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.ConstraintName
	}
	return ""
}

// notFound is the answer for what does not exist or is another tenant's.
func notFound(op, msg string) error {
	return &tool.Error{Kind: tool.NotFound, Op: op, Msg: msg}
}

// explain replaces what a caller is told of a failure of the given kind.
func explain(err error, kind tool.Kind, msg string) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != kind {
		return err
	}
	worded := *e
	worded.Msg = msg
	return &worded
}

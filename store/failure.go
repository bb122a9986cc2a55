package store

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/tool"
)

// SQLSTATE codes, and classes of them, with a meaning to callers.
const (
	codeInvalidParameter    = "22023"
	codeRestrictViolation   = "23001"
	codeForeignKeyViolation = "23503"
	codeUniqueViolation     = "23505"
	codeCheckViolation      = "23514"
	codeReadOnly            = "25006" // Of a standby, or a primary that was demoted.
	codeIdleInTransaction   = "25P03"
	codeTransactionTimeout  = "25P04"
	codeSerialization       = "40001"
	codeDeadlock            = "40P01"
	codeInsufficient        = "42501"
	codeUndefinedTable      = "42P01"
	codeUndefinedObject     = "42704"
	codeDuplicateObject     = "42710"
	codeDiskFull            = "53100"
	codeNotInState          = "55000"
	codeObjectInUse         = "55006"
	codeLockNotAvailable    = "55P03"
	codeQueryCanceled       = "57014"
	codeIO                  = "58030"
	codeQuota               = "TC002" // Of migration 073.
	codeConcurrentUpdate    = "XX000" // "tuple concurrently updated", which has no code of its own.

	classConnection    = "08"
	classData          = "22"
	classIntegrity     = "23"
	classAuthorization = "28"
	classCatalog       = "3D"
	classRollback      = "40"
	classResources     = "53"
	classLimit         = "54"
	classOperator      = "57"
	classSystem        = "58"
	classSnapshot      = "72"
)

// failure classifies a database error. The database's text is kept in the cause only.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	if over := overQuota(op, err); over != nil {
		return over
	}
	e := &tool.Error{Op: op, Err: err}
	switch code := codeOf(err); {
	case errors.Is(err, pgx.ErrNoRows):
		e.Kind, e.Msg = tool.NotFound, "not found"
	case code != "":
		e.Kind, e.Msg = answerKind(code)
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		e.Kind, e.Msg = tool.Unavailable, "the database is read-only"
	case errors.Is(err, context.Canceled):
		e.Kind, e.Msg = tool.Cancelled, "cancelled"
	case disconnected(err):
		e.Kind, e.Msg = tool.Unavailable, "the database is not answering"
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Msg = tool.Timeout, "the database took too long"
	default:
		e.Kind, e.Msg = tool.InternalError, "internal error"
	}
	return e
}

// IsOutage reports whether err is, or wraps, a store's tool.Unavailable: further
// requests will probably fail too.
func IsOutage(err error) bool {
	for e, ok := errors.AsType[*tool.Error](err); ok; e, ok = errors.AsType[*tool.Error](e.Err) {
		if e.Kind == tool.Unavailable && strings.HasPrefix(e.Op, "store.") {
			return true
		}
	}
	return false
}

// codeOf returns the SQLSTATE of the server's error; empty for other errors.
func codeOf(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}

// answerKind classifies a SQLSTATE (PostgreSQL, appendix A). Errors about the state of
// the server are tool.Unavailable: a standby, a restart, a full disk, a lock
// timeout, a refused login.
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
	case codeLockNotAvailable, codeObjectInUse:
		return tool.Unavailable, "the database is too busy with the same rows"
	case codeQueryCanceled, codeIdleInTransaction, codeTransactionTimeout:
		return tool.Unavailable, "the database took too long"
	case codeReadOnly:
		return tool.Unavailable, "the database is read-only"
	case codeDiskFull:
		return tool.Unavailable, "the database's disk is full"
	}
	switch code[:min(2, len(code))] {
	case classData, classIntegrity, classLimit:
		return tool.Invalid, "a value is not acceptable"
	case classRollback, classSnapshot:
		return tool.Unavailable, "the database is too busy with the same rows"
	case classAuthorization, classCatalog:
		return tool.Unavailable, "the database refuses this process"
	case classConnection, classResources, classOperator, classSystem:
		return tool.Unavailable, "the database is not available"
	default:
		return tool.InternalError, "internal error"
	}
}

// refusesWrites reports whether the server is read-only: a standby, a demoted
// primary, or one with default_transaction_read_only. The transaction changed nothing
// and is safe to retry.
func refusesWrites(err error) bool {
	return codeOf(err) == codeReadOnly || errors.Is(err, pgconn.ErrReadOnlyConnection)
}

// diskFull reports whether the server's disk is full or has failed.
func diskFull(err error) bool {
	code := codeOf(err)
	return code == codeDiskFull || code == codeIO
}

// stalls reports whether an operation timed out at the server, or waiting for one.
func stalls(err error) bool {
	code := codeOf(err)
	return code == codeLockNotAvailable || code == codeQueryCanceled || refusesWrites(err)
}

// lost reports whether an attempt had no effect and is safe to retry: it lost to
// another transaction, had no connection, or sent nothing.
func lost(err error) bool {
	switch codeOf(err) {
	case codeSerialization, codeDeadlock:
		return true
	case "":
		_, unconnected := errors.AsType[*pgconn.ConnectError](err)
		return unconnected || errors.Is(err, errRaced) || pgconn.SafeToRetry(err)
	default:
		return false
	}
}

// disconnected reports whether err is a failure of the connection rather than
// of the statement.
func disconnected(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok && !errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err) && !errors.Is(err, context.DeadlineExceeded)
}

// constraintOf returns the constraint or index that refused a row.
func constraintOf(err error) string {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.ConstraintName
	}
	return ""
}

// notFound returns the error for rows that do not exist or belong to another tenant.
func notFound(op, msg string) error {
	return &tool.Error{Kind: tool.NotFound, Op: op, Msg: msg}
}

// explain replaces the message of an error of the given kind. A refusal by a quota explains itself.
func explain(err error, kind tool.Kind, msg string) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != kind {
		return err
	}
	if _, ok := errors.AsType[*quota.ExceededError](err); ok {
		return err
	}
	worded := *e
	worded.Msg = msg
	return &worded
}

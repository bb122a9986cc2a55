package store

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/tool"
)

// SQLSTATE codes of a server that refuses a connection.
const (
	codeNoAuthorization = "28000" // No such login, or not from this address.
	codeWrongPassword   = "28P01"
	codeNoDatabase      = "3D000"
	codeTooMany         = "53300"
	codeStarting        = "57P03"
)

// reached replaces the message of a connection error by the server, the cause and the
// remedy, for the person who configured the URL. It never contains the password.
func reached(err error) error {
	refused, ok := errors.AsType[*pgconn.ConnectError](err)
	if !ok || refused.Config == nil {
		return err
	}
	e := &tool.Error{Kind: tool.Unavailable, Op: "store.Open", Err: err}
	if outer, ok := errors.AsType[*tool.Error](err); ok {
		e.Op = outer.Op
	}
	e.Kind, e.Msg = unreached(err, refused.Config)
	return e
}

func unreached(err error, to *pgconn.Config) (tool.Kind, string) {
	at := net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return turnedAway(answer, to, at)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return tool.Unavailable, fmt.Sprintf(
			"the database's host %q is unknown: correct it in the URL, or in DNS", dns.Name,
		)
	}
	netErr, isNet := errors.AsType[net.Error](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, misnamed := errors.AsType[x509.HostnameError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return tool.Cancelled, "cancelled"
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		return tool.Unavailable, fmt.Sprintf(
			"the database at %s is read-only: give the address of the primary, or of all hosts, in the URL", at,
		)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		return tool.Unavailable, fmt.Sprintf("no server accepts connections at %s: start the server, or correct the URL",
			at)
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return tool.Unavailable, fmt.Sprintf(
			"the database at %s has no TLS, which the URL requires: set sslmode=disable on a network you trust", at,
		)
	case unknown, misnamed:
		return tool.Unavailable, fmt.Sprintf(
			"the certificate of the database at %s is not trusted: give its authority as sslrootcert in the URL", at,
		)
	case errors.Is(err, context.DeadlineExceeded), isNet && netErr.Timeout():
		return tool.Unavailable, fmt.Sprintf(
			"the database at %s did not answer in time: check that the server is running and that no firewall blocks it", at,
		)
	default:
		return tool.Unavailable, fmt.Sprintf("the database at %s can't be reached", at)
	}
}

// turnedAway returns why a server refused the connection.
func turnedAway(answer *pgconn.PgError, to *pgconn.Config, at string) (tool.Kind, string) {
	switch {
	case answer.Code == codeWrongPassword:
		return tool.Denied, fmt.Sprintf("the database at %s refuses the password of %q: correct it in the URL", at, to.User)
	case answer.Code == codeNoAuthorization && strings.Contains(answer.Message, "no encryption"):
		return tool.Denied, fmt.Sprintf("the database at %s requires TLS: set sslmode=require in the URL", at)
	case answer.Code == codeNoAuthorization:
		return tool.Denied, fmt.Sprintf(
			"the database at %s refuses the login %q: check that it exists, and pg_hba.conf", at, to.User,
		)
	case answer.Code == codeNoDatabase:
		return tool.NotFound, fmt.Sprintf(
			"the database %q does not exist at %s: create it with CREATE DATABASE, or correct the URL", to.Database, at,
		)
	case answer.Code == codeTooMany:
		return tool.Unavailable, fmt.Sprintf(
			"the database at %s has no connections left: raise max_connections, "+
				"or lower --database-connections of the processes",
			at,
		)
	case answer.Code == codeStarting:
		return tool.Unavailable, fmt.Sprintf("the database at %s is starting: retry in a moment", at)
	default:
		return tool.Unavailable, fmt.Sprintf("the database at %s accepts no connections: see its log (%s)", at,
			answer.Code)
	}
}

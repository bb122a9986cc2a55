package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"syscall"

	"github.com/toolcrib/toolcrib/tool"
)

// failure returns the error of a request without a response. Messages contain no
// address, so that they do not disclose what a name resolves to.
func failure(ctx context.Context, err error, sent bool) *tool.Error {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return &tool.Error{Kind: e.Kind, Op: e.Op, Msg: e.Msg, Path: e.Path, Sent: sent, Err: e.Err}
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // Without the URL, which contains arguments.
	}
	out := &tool.Error{Kind: tool.Unavailable, Op: "egress.Do", Sent: sent, Err: err}
	netErr, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		out.Kind, out.Msg = tool.Cancelled, "the call was cancelled"
	case ctx.Err() != nil:
		out.Kind, out.Msg = tool.Timeout, "the upstream did not answer in time"
	case isNet && netErr.Timeout() && sent:
		out.Kind, out.Msg = tool.Timeout, "the upstream did not answer in time"
	case sent:
		out.Msg = "the upstream closed the connection before it answered"
	default:
		out.Msg = unreachable(err)
	}
	return out
}

func unreachable(err error) string {
	switch {
	case isType[*net.DNSError](err):
		return "the upstream's name can't be resolved"
	case isType[*tls.CertificateVerificationError](err), isType[x509.UnknownAuthorityError](err),
		isType[tls.RecordHeaderError](err), isType[tls.AlertError](err):
		return "the TLS handshake with the upstream failed"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the upstream refused the connection"
	default:
		return "the upstream can't be reached"
	}
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

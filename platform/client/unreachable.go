package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/toolcrib/toolcrib/tool"
)

// Reason is why a server gave no answer.
type Reason string

// Reasons, in words that follow "the server … is not answering: ".
const (
	NotAnswering   Reason = ""
	NoSuchHost     Reason = "its name is not known"
	Refused        Reason = "nothing listens there"
	NoTLS          Reason = "it does not speak TLS"
	BadCertificate Reason = "its certificate is not trusted"
)

// UnreachableError is a server without an answer.
type UnreachableError struct {
	Server string
	Reason Reason
	Detail string // Of a certificate: what is wrong with it.
	Err    error
}

func (e *UnreachableError) Error() string {
	text := fmt.Sprintf("the server %s is not answering", e.Server)
	if e.Reason != NotAnswering {
		text += ": " + string(e.Reason)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// unreachable marks the failures of a server that is not there.
func unreachable(server string, err error) error {
	if tool.KindOf(err) != tool.Unavailable {
		return err
	}
	reason, detail := reasonOf(err)
	return &UnreachableError{Server: server, Reason: reason, Detail: detail, Err: err}
}

func reasonOf(err error) (reason Reason, detail string) {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return NoSuchHost, ""
	}
	if detail := certificateFault(err); detail != "" {
		return BadCertificate, detail
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return NoTLS, ""
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return Refused, ""
	}
	return NotAnswering, ""
}

// certificateFault describes what is wrong with a certificate, if err is a
// certificate error.
func certificateFault(err error) string {
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return "it is for other names than " + e.Host
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return "it has expired, or is not valid yet"
		}
		return "it is not valid"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "this machine does not know the authority that signed it"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "it could not be verified"
	}
	return ""
}

// NotToolcribError is an answer that does not come from a Toolcrib server.
type NotToolcribError struct {
	Server string
	Status int
}

func (e *NotToolcribError) Error() string {
	return fmt.Sprintf("%s is no Toolcrib server: it answered %d with something else than the API's JSON", e.Server,
		e.Status)
}

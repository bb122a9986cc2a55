package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// The reasons why a server does not answer are distinguished, however deep they
// are nested.
func TestReasons(t *testing.T) {
	t.Parallel()

	certificate := &x509.Certificate{}
	for _, c := range []struct {
		err    error
		reason Reason
		detail string
	}{
		{&net.DNSError{}, NoSuchHost, ""},
		{syscall.ECONNREFUSED, Refused, ""},
		{http.ErrSchemeMismatch, NoTLS, ""},
		{tls.RecordHeaderError{}, NoTLS, ""},
		{
			&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: certificate, Host: "a.example"}},
			BadCertificate, "it is for other names than a.example",
		},
		{
			&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Cert: certificate, Reason: x509.Expired}},
			BadCertificate, "it has expired, or is not valid yet",
		},
		{
			&tls.CertificateVerificationError{
				Err: x509.CertificateInvalidError{Cert: certificate, Reason: x509.TooManyIntermediates},
			},
			BadCertificate, "it is not valid",
		},
		{
			&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, BadCertificate,
			"this machine does not know the authority that signed it",
		},
		{&tls.CertificateVerificationError{Err: errors.New("x")}, BadCertificate, "it could not be verified"},
		{errors.New("x"), NotAnswering, ""},
	} {
		err := unreachable(
			"https://a.example",
			&tool.Error{Kind: tool.Unavailable, Msg: "the upstream", Err: fmt.Errorf("dialing: %w", c.err)},
		)
		e, ok := errors.AsType[*UnreachableError](err)
		require.True(t, ok)
		require.Equal(t, c.reason, e.Reason)
		require.Equal(t, c.detail, e.Detail)
		require.NotContains(t, e.Error(), "upstream")
	}
	denied := &tool.Error{Kind: tool.Denied}
	require.Same(t, denied, unreachable("x", denied))
}

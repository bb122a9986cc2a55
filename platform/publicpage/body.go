package publicpage

import (
	"errors"
	"io"
	"net/http"
)

// maxDrained bounds what is read of a body beyond its limit.
const maxDrained = 16 << 20

// Body returns the body of a request, of which at most so many bytes are read, as [http.MaxBytesReader]. It reads on a
// while and drops it where there is more: a browser that is still sending when the connection is closed shows that
// rather than the page with the reason (RFC 9112, section 9.6).
func Body(w http.ResponseWriter, r *http.Request, most int64) io.ReadCloser {
	return &body{ReadCloser: http.MaxBytesReader(w, r.Body, most), whole: r.Body}
}

type body struct {
	io.ReadCloser

	whole   io.Reader
	drained bool
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if _, large := errors.AsType[*http.MaxBytesError](err); large && !b.drained {
		b.drained = true
		_, _ = io.CopyN(io.Discard, b.whole, maxDrained) // The body is refused in any case.
	}
	return n, err //nolint:wrapcheck // Callers ask for the errors of the reader.
}

package egress

import (
	"context"
	"io"
	"net/http"

	"github.com/toolcrib/toolcrib/tool"
)

// Stream sends a request like [Gate.Do], and returns after the header of the response,
// for bodies that are streamed. The caller closes the body. ctx bounds all of it,
// including the body, and must have a deadline. The caller applies the request's
// MaxBytes; the limits of rules and policy end the body with an error.
//
// Redirects are followed within the origin and with the same method only; others are
// returned as the response. It fails like Do.
func (g *Gate) Stream(ctx context.Context, a Access, r *Request) (*http.Response, error) {
	var sent tracker
	req, err := http.NewRequestWithContext(sent.watch(ctx), r.Method, r.URL, body(r.Body))
	if err != nil {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "egress.Stream", Msg: "the request's method or URL is malformed", Err: err,
		}
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	h := &hop{gate: g, access: a, once: !r.Repeatable, capped: true}
	c := client(h)
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if crossed(req) || req.Method != via[0].Method {
			return http.ErrUseLastResponse
		}
		return h.redirect(req, via)
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, failure(ctx, err, sent.wasSent())
	}
	resp.Body = &streamed{ReadCloser: resp.Body, ctx: ctx}
	return resp, nil
}

// Over returns a client for an SDK, over a transport that sends with [Gate.Stream]. It
// does not follow redirects.
func Over(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// streamed converts the errors of an interrupted body like [Gate.Do].
type streamed struct {
	io.ReadCloser

	ctx context.Context //nolint:containedctx // The request's, as its body is.
}

// Read implements [io.Reader].
func (s *streamed) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // Readers return it bare.
		err = failure(s.ctx, err, true)
	}
	return n, err
}

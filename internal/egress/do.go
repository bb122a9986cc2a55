package egress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/toolcrib/toolcrib/tool"
)

// Request is one request of [Gate.Do].
type Request struct {
	Method string
	URL    string
	Header http.Header // May be nil. Without the credential.
	Body   []byte      // Nil for none.
	// Repeatable requests may use an idle connection, and are retried when it turns
	// out to be closed. All others get a new connection and are written at most once.
	Repeatable bool
	// MaxBytes bounds the body of the response; the gate's limit when zero. The
	// smallest of it, the rules and the access applies.
	MaxBytes int64
	// NoRedirects returns a redirect as the response. Stream ignores it.
	NoRedirects bool
}

// Response is the upstream's response.
type Response struct {
	Status    int
	Header    http.Header // As the upstream wrote it.
	Body      []byte      // Decompressed; at most the limit.
	Truncated bool        // The body was longer than the limit.
	URL       string      // Final URL after redirects, without the credential.
}

// Do sends a request and reads its response, whatever the status. ctx bounds all of
// it, including the body.
//
// It fails with a [*tool.Error]: Denied where the guard refuses and for names that do
// not exist, Invalid for a malformed request, Cancelled and Timeout by ctx, and
// Unavailable when the upstream cannot be reached or closes the connection. Sent
// reports whether any byte of the request was sent.
func (g *Gate) Do(ctx context.Context, a Access, r *Request) (*Response, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.cfg.Timeout)
		defer cancel()
	}
	var sent tracker
	req, err := http.NewRequestWithContext(sent.watch(ctx), r.Method, r.URL, body(r.Body))
	if err != nil {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "egress.Do", Msg: "the request's method or URL is malformed", Err: err,
		}
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	sending := client(&hop{gate: g, access: a, once: !r.Repeatable})
	if r.NoRedirects {
		sending.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	resp, err := sending.Do(req)
	if err != nil {
		return nil, failure(ctx, err, sent.wasSent())
	}
	defer func() { _ = resp.Body.Close() }()

	limit := r.MaxBytes
	if limit <= 0 {
		limit = g.cfg.MaxBytes
	}
	limit = a.bound(limit, g.cfg.Policy(a.Tenant))
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, failure(ctx, fmt.Errorf("reading answer: %w", err), true)
	}
	out := &Response{Status: resp.StatusCode, Header: resp.Header, Body: raw, URL: resp.Request.URL.String()}
	if int64(len(raw)) > limit {
		out.Body, out.Truncated = raw[:limit], true
	}
	return out, nil
}

func body(raw []byte) io.Reader {
	if raw == nil {
		return nil
	}
	return bytes.NewReader(raw)
}

// Check checks a URL without resolving or dialing, for early errors to authors of
// tools. It fails like [Gate.Do].
func (g *Gate) Check(a Access, method, rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil {
		return &tool.Error{Kind: tool.Invalid, Op: "egress.Check", Msg: "the URL is malformed", Err: err}
	}
	t, err := targetOf(u)
	if err != nil {
		return err
	}
	policy := g.cfg.Policy(a.Tenant)
	if err := a.permits(method, nil, t, policy); err != nil {
		return t.pointed(err)
	}
	return a.permitsCredential(t, policy)
}

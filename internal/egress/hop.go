package egress

import (
	"fmt"
	"net/http"
)

// hop checks and sends single requests: the first and each redirect.
type hop struct {
	gate   *Gate
	access Access
	once   bool
	capped bool // Whether bodies end with an error at the access's limit.
}

// RoundTrip implements [http.RoundTripper].
func (h *hop) RoundTrip(req *http.Request) (*http.Response, error) {
	l, policy := h.gate.lane(h.access.Tenant)
	out, err := h.prepare(req, policy)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		h.gate.tell(req.Context(), err)
		return nil, pointed(req, err)
	}
	transport := http.RoundTripper(l.pooled)
	if h.once {
		transport = l.once
	}
	if h.access.Credential != nil && !crossed(req) {
		transport = bearing{transport, h.access.Credential}
	}
	if h.gate.cfg.Transport != nil {
		transport = h.gate.cfg.Transport(transport)
	}
	resp, err := transport.RoundTrip(out)
	if err != nil {
		h.gate.tell(req.Context(), err)
		return nil, pointed(req, err)
	}
	resp.Request = req // The original, without the credential.
	if limit := h.access.bound(0, policy); h.capped && limit > 0 {
		tell := func(err error) { //nolint:contextcheck // The body is read in the request's.
			h.gate.tell(req.Context(), err)
		}
		resp.Body = &cappedBody{ReadCloser: resp.Body, limit: limit, left: limit, tell: tell}
	}
	return resp, nil
}

// pointed is [target.pointed] for a request that is not a redirect.
func pointed(req *http.Request, err error) error {
	t, malformed := targetOf(req.URL)
	if malformed != nil || req.Response != nil {
		return err
	}
	return t.pointed(err)
}

// refusal refuses a redirect.
func (h *hop) refusal(req *http.Request, msg string) error {
	err := refused(errRedirect, msg)
	h.gate.tell(req.Context(), err)
	return err
}

func (h *hop) prepare(req *http.Request, policy Policy) (*http.Request, error) {
	t, err := targetOf(req.URL)
	if err != nil {
		return nil, err
	}
	if req.Host != "" && req.Host != req.URL.Host {
		return nil, refused(errURL, "the Host header must equal the URL's host")
	}
	if policy.deniesHost(t) {
		return nil, refused(errRules, "the platform's operator does not allow this host")
	}
	if err := h.access.permits(req.Method, req.Header, t, policy); err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	out.URL.Host = t.hostport(req.URL) // Dial and send exactly what was checked.
	out.Host = out.URL.Host
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", h.gate.cfg.UserAgent)
	}
	if h.access.Credential != nil && !crossed(req) {
		if err := h.access.permitsCredential(t, policy); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// crossed reports whether a redirect before req led to another origin. Once left, an
// origin is not trusted again.
func crossed(req *http.Request) bool {
	at, err := targetOf(req.URL)
	if err != nil {
		return true
	}
	for r := req; r.Response != nil && r.Response.Request != nil; {
		r = r.Response.Request
		before, err := targetOf(r.URL)
		if err != nil || before.origin() != at.origin() {
			return true
		}
	}
	return false
}

// keptHeaders may follow a redirect to another origin.
var keptHeaders = []string{"Accept", "Accept-Language", "User-Agent"}

// redirect implements [http.Client].CheckRedirect. The next RoundTrip checks the rest.
func (h *hop) redirect(req *http.Request, via []*http.Request) error {
	if limit := h.gate.cfg.MaxRedirects; len(via) > max(limit, 0) {
		if limit < 0 {
			return http.ErrUseLastResponse
		}
		return h.refusal(req, fmt.Sprintf("the upstream redirected more than %d times", limit))
	}
	from, to := via[len(via)-1].URL, req.URL
	if from.Scheme == "https" && to.Scheme != "https" {
		return h.refusal(req, "the upstream redirected from https to "+schemeName(to.Scheme))
	}
	credential := h.access.Credential
	if !crossed(req) {
		if credential != nil && credential.Scheme == Query {
			req.URL.RawQuery = withoutParameter(req.URL.RawQuery, credential.Name) // It is added again.
		}
		return nil
	}
	if credential.disclosed(req) {
		err := refused(errCredential, "the upstream redirected to another origin with a credential in the URL")
		h.gate.tell(req.Context(), err)
		return err
	}
	if req.Body != nil && req.Body != http.NoBody {
		return h.refusal(req, "the upstream redirected a request with a body to another origin")
	}
	kept := make(http.Header)
	for _, name := range keptHeaders {
		if v := req.Header.Values(name); len(v) > 0 {
			kept[name] = v
		}
	}
	req.Header = kept //nolint:gosec // It holds nothing but keptHeaders.
	return nil
}

func schemeName(scheme string) string {
	if scheme == "http" {
		return scheme
	}
	return "another scheme"
}

var _ http.RoundTripper = (*hop)(nil)

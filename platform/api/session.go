package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"mime"
	"net"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/identity"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// BrowserConfig says how browsers sign in.
type BrowserConfig struct {
	// PlainHTTP keeps the secret of a browser in a cookie that is sent without TLS too: for a server that
	// only its own machine reaches.
	PlainHTTP bool
	// Redeem returns the API key that a code stands for, which signs in once and from this machine alone.
	// Nil for no codes.
	Redeem func(code string) (key string, ok bool)
}

// Headers of requests with the session of a browser.
const (
	// TenantHeader has the slug of the tenant that a request and its answer are of.
	TenantHeader = "X-Toolcrib-Tenant"
	// BrowserHeader is "1" where a request may change something: forms of other sites cannot send it.
	BrowserHeader = "X-Toolcrib"
	// BackgroundHeader is "1" where a page asks by itself, without a person who did something a moment ago: the
	// idle time of the session goes on.
	BackgroundHeader = "X-Toolcrib-Background"
)

// Names of the cookie. The first prefix makes browsers refuse one that is not Secure or is of another path.
const (
	sessionCookie = "__Host-toolcrib"
	plainCookie   = "toolcrib-dev"
)

// browserKey carries the request to the operations about sessions.
type browserKey struct{}

func (s *server) cookieName() string {
	if s.cfg.Browsers.PlainHTTP {
		return plainCookie
	}
	return sessionCookie
}

// browserOf returns the digest of the secret that a browser sent, or nil.
func (s *server) browserOf(r *http.Request) []byte {
	c, err := r.Cookie(s.cookieName())
	if err != nil || c.Value == "" {
		return nil
	}
	hash := sha256.Sum256([]byte(c.Value))
	return hash[:]
}

// identify returns the principal of a request, by its key or token or by the session of its browser.
func (s *server) identify(
	ctx context.Context, r *http.Request, w http.ResponseWriter, at place,
) (tool.Principal, *share, error) {
	authorization, browser := r.Header.Get("Authorization"), s.browserOf(r)
	switch {
	case browser == nil:
		return s.admit(ctx, authorization, at)
	case authorization != "":
		return tool.Principal{}, nil, refusal(v1.MalformedRequest,
			"the request has an Authorization and the cookie of a browser: send one of them")
	}
	if err := fromOwnPages(r, at.raw); err != nil {
		return tool.Principal{}, nil, err
	}
	w.Header().Set("Cache-Control", "no-store") // The answer depends on headers that caches do not look at.
	slug := r.Header.Get(TenantHeader)
	if slug == "" {
		return tool.Principal{}, nil, refusal(v1.MalformedRequest,
			"name the tenant of the request, by its slug, in the header "+TenantHeader)
	}
	p, sh, err := s.session(ctx, slug, browser, true, attended(r))
	if err == nil {
		w.Header().Set(TenantHeader, slug)
	}
	return p, sh, err
}

// attended reports whether a request with the session of a browser is use by a person. Streams are not: pages
// open them, and open them again, by themselves.
func attended(r *http.Request) bool {
	return r.Header.Get(BackgroundHeader) == "" && (r.Method != http.MethodGet || !asksForStream(r))
}

// session returns the principal of a browser's session with a tenant. Its authority is that of the key
// or person now. A request that is not counted has no share; one that is no use by a person does not renew the
// session's idle time.
func (s *server) session(
	ctx context.Context, slug string, browser []byte, counted, attended bool,
) (tool.Principal, *share, error) {
	ended := unauthenticated("this browser is not signed in to the tenant: sign in again")
	if !store.ValidTenantSlug(slug) {
		return tool.Principal{}, nil, ended
	}
	tenant, err := s.tenantOf(ctx, slug)
	if tool.KindOf(problemError(err)) == tool.Denied && err != nil {
		return tool.Principal{}, nil, ended
	}
	if err != nil {
		return tool.Principal{}, nil, err
	}
	w, err := s.cfg.Store.FindWebSession(ctx, tenant, browser, attended)
	if err != nil && tool.KindOf(err) == tool.NotFound {
		return tool.Principal{}, nil, ended
	}
	if err != nil {
		return tool.Principal{}, nil, err
	}
	id := sha256.Sum256([]byte(string(tenant) + " " + w.Person.Subject + w.KeyID))
	var elsewhere error
	use := func(d store.Draw) (tool.Principal, store.Allowance, error) {
		if w.KeyID == "" {
			p, a, err := s.cfg.Store.UseToken(ctx, w.Person, d)
			return p, a, endedFor(err, ended)
		}
		key, a, err := s.cfg.Store.UseSessionKey(ctx, w, d)
		if err != nil {
			return tool.Principal{}, a, endedFor(err, ended)
		}
		elsewhere = place{}.allows(key)
		return key.Principal().Narrow(), a, nil
	}
	var p tool.Principal
	var sh *share
	if counted {
		p, sh, err = s.within(ctx, id, use)
	} else {
		p, _, err = use(store.Draw{})
	}
	if err == nil && elsewhere != nil {
		return tool.Principal{}, sh, elsewhere
	}
	return p, sh, err
}

// again returns the principal that a request has by now. It is not counted as another request.
func (s *server) again(ctx context.Context, r *http.Request) (tool.Principal, error) {
	browser := s.browserOf(r)
	if browser == nil {
		return s.bearer(ctx, r.Header.Get("Authorization"), place{})
	}
	p, _, err := s.session(ctx, r.Header.Get(TenantHeader), browser, false, false)
	return p, err
}

// problemError returns err as the tool's error that its problem stands for.
func problemError(err error) error {
	if err == nil {
		return nil
	}
	return &tool.Error{Kind: problemOf(err).Code}
}

// endedFor is [unauthenticatedFor] in the words for a session.
func endedFor(err error, ended *v1.Problem) error {
	if err != nil && tool.KindOf(err) == tool.Denied {
		return ended
	}
	return err
}

// fromOwnPages refuses requests that may change something and that a page of another site could have
// made a browser send with its cookie. A raw body is the content of a file, of any type: forms of other sites
// cannot send the header with it either.
func fromOwnPages(r *http.Request, raw bool) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return &tool.Error{
			Kind: tool.Denied, Op: "api.fromOwnPages", Msg: "the request comes from a page of another site", Err: err,
		}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Header.Get(BrowserHeader) != "1" || !raw && (err != nil || media != jsonType) {
		return &tool.Error{
			Kind: tool.Denied, Op: "api.fromOwnPages",
			Msg: "with the cookie of a browser, a request that changes something needs " + BrowserHeader + ": 1, and " +
				"Content-Type: " + jsonType + " where its body is not a file",
		}
	}
	return nil
}

type signInOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      v1.SignedIn
}

type signOutOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	ClearData string      `header:"Clear-Site-Data"`
}

// registerSessions adds the endpoints that browsers sign in and out at. They take no key of their own:
// a key is what they are sent.
func (s *server) registerSessions() {
	op := func(id, method, summary, detail string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/v1/session", Tags: []string{"sessions"}, Summary: summary,
			Description: detail, Middlewares: huma.Middlewares{s.receive, refuseKey(signingIn), withRequest},
			MaxBodyBytes: s.cfg.MaxBodyBytes, BodyReadTimeout: -1,
			Responses: map[string]*huma.Response{"default": s.problemResponse()},
		}
	}
	huma.Register(s.api, op("beginSession", http.MethodPost, "Sign a browser in to a tenant",
		"Trades an API key, or a token of an issuer that the server accepts, for a cookie that scripts cannot read. "+
			"Requests with it name their tenant in `"+TenantHeader+"`. The session ends with the key, and when it was not "+
			"used for 12 hours: streams, and requests with `"+BackgroundHeader+": 1`, are no use. Requires `"+
			BrowserHeader+": 1`. Without a key."), s.beginSession)
	huma.Register(s.api, op("endSession", http.MethodDelete, "Sign a browser out of every tenant",
		"Does nothing where it is not signed in. Requires `"+BrowserHeader+": 1`. Without a key."), s.endSession)
}

// withRequest passes the request on to the operation.
func withRequest(ctx huma.Context, next func(huma.Context)) {
	r, _ := humachi.Unwrap(ctx)
	next(huma.WithValue(ctx, browserKey{}, r))
}

func httpRequestOf(ctx context.Context) *http.Request {
	r, _ := ctx.Value(browserKey{}).(*http.Request)
	return r
}

func (s *server) beginSession(ctx context.Context, in *body[v1.SignIn]) (*signInOutput, error) {
	r := httpRequestOf(ctx)
	refuse := func(err error) (*signInOutput, error) { return nil, s.problem(ctx, "beginSession", err) }
	if err := fromOwnPages(r, false); err != nil {
		return refuse(err)
	}
	credential := in.Body.Credential
	switch {
	case (credential == "") == (in.Body.Code == ""):
		return refuse(&tool.Error{
			Kind: tool.Invalid, Op: "api.beginSession", Path: "/credential", Msg: "give an API key or token, or a code",
		})
	case in.Body.Code != "":
		var ok bool
		if s.cfg.Browsers.Redeem != nil && fromThisMachine(r) {
			credential, ok = s.cfg.Browsers.Redeem(in.Body.Code)
		}
		if !ok {
			return refuse(unauthenticated("the code is not valid any more: use an API key, or start the server anew"))
		}
	}
	p, _, err := s.admit(ctx, "Bearer "+credential, place{})
	if err != nil {
		return refuse(err)
	}
	t, err := s.cfg.Store.FindTenant(ctx, p.Tenant)
	if err != nil {
		return refuse(err)
	}
	w, err := s.sessionOf(ctx, p, credential)
	if err != nil {
		return refuse(err)
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // It never fails.
	text := base64.RawURLEncoding.EncodeToString(secret)
	hash := sha256.Sum256([]byte(text))
	w.Browser = browserName(r.UserAgent())
	by := audit.With(ctx, audit.ActorOf(p, traceID(ctx)))
	if err := s.cfg.Store.BeginWebSession(by, w, s.browserOf(r), hash[:]); err != nil {
		return refuse(err)
	}
	signed := v1.SignedIn{Tenant: v1.BrowserTenant{Slug: t.Slug, Name: t.Name}}
	return &signInOutput{SetCookie: s.cookie(text, 0), Body: signed}, nil
}

// sessionOf returns the session of what signed in.
func (s *server) sessionOf(ctx context.Context, p tool.Principal, credential string) (store.WebSession, error) {
	w := store.WebSession{Tenant: p.Tenant}
	if s.cfg.Issuers == nil || !identity.IsToken(credential) {
		w.KeyID = p.Subject[len("key:"):]
		return w, nil
	}
	person, err := s.person(ctx, credential)
	w.Person = person
	return w, err
}

// fromThisMachine reports whether a request comes from the machine of the server, by no proxy that names itself.
func fromThisMachine(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	forwarded := r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != ""
	return err == nil && ip != nil && ip.IsLoopback() && !forwarded
}

func (s *server) cookie(value string, maxAge int) http.Cookie {
	return http.Cookie{ //nolint:gosec // Without Secure on the plain HTTP of this machine alone.
		Name: s.cookieName(), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: !s.cfg.Browsers.PlainHTTP,
		SameSite: http.SameSiteLaxMode,
	}
}

func (s *server) endSession(ctx context.Context, _ *struct{}) (*signOutOutput, error) {
	r := httpRequestOf(ctx)
	err := fromOwnPages(r, false)
	if browser := s.browserOf(r); err == nil && browser != nil {
		ctx = audit.With(ctx, audit.Actor{Kind: audit.System, Subject: "toolcrib", RequestID: traceID(ctx)})
		err = s.cfg.Store.EndWebSessions(ctx, browser)
		s.connections.left(browser)
	}
	if err != nil {
		return nil, s.problem(ctx, "endSession", err)
	}
	return &signOutOutput{SetCookie: s.cookie("", -1), ClearData: `"cache", "storage"`}, nil
}

package embeds

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
)

//go:embed page.html
var source string

//go:embed page.css
var style string

//go:embed page.js
var script string

var parsed = template.Must(template.New("page").Parse(source))

// OriginHeader has the origin of the page around the frame, as the browser said it, in requests of the page.
const OriginHeader = "Toolcrib-Embed-Origin"

const (
	pageTime  = 30 * time.Second
	firstWait = 3 * time.Second // For the end of a call, so that one that waits for an approval soon says it.
	longWait  = 10 * time.Second
	maxBody   = 256 << 10
)

// Errors of requests.
var (
	errNoPage = errors.New("there is no such page")
	errToken  = errors.New("the token opens nothing")
	errBusy   = errors.New("too many requests")
)

// Pages serves the pages below [toolembed.Path], and what they ask for. It is safe for concurrent use.
type Pages struct {
	service *Service
	gate    *publicpage.Gate
	own     *http.CrossOriginProtection
}

// NewPages returns a handler.
func NewPages(s *Service) *Pages {
	return &Pages{service: s, gate: publicpage.NewGate(), own: http.NewCrossOriginProtection()}
}

// csp allows the page its own style and script, what it asks this server for, and the frames of some origins.
func csp(origins []string) string {
	ancestors := "'none'"
	if len(origins) > 0 {
		ancestors = strings.Join(origins, " ")
	}
	return "default-src 'none'; script-src '" + hash(script) + "'; style-src '" + hash(style) + "'; connect-src 'self'; " +
		"form-action 'none'; base-uri 'none'; object-src 'none'; require-trusted-types-for 'script'; " +
		"trusted-types 'none'; frame-ancestors " + ancestors
}

func hash(of string) string {
	sum := sha256.Sum256([]byte(of))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// protect sets the headers of every answer. X-Frame-Options cannot name origins: the policy alone says who may frame.
func protect(h http.Header, policy string) {
	publicpage.Protect(h, policy)
	h.Del("X-Frame-Options")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// place is what a path below [toolembed.Path] names: /TENANT/TOOL, and then form, calls or calls/ONCE.
type place struct{ tenant, tool, of, once string }

func placeOf(path string) (place, bool) {
	parts := strings.Split(strings.TrimPrefix(path, toolembed.Path), "/")
	if len(parts) < 2 || parts[0] == "" || !tool.ValidSlug(parts[1]) {
		return place{}, false
	}
	at := place{tenant: parts[0], tool: parts[1]}
	switch below := parts[2:]; {
	case len(below) == 0:
	case len(below) == 1 && (below[0] == "form" || below[0] == "calls"):
		at.of = below[0]
	case len(below) == 2 && below[0] == "calls" && once.MatchString(below[1]):
		at.of, at.once = below[0], below[1]
	default:
		return place{}, false
	}
	return at, true
}

// ServeHTTP implements [http.Handler].
func (h *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	r = r.WithContext(ctx)
	protect(w.Header(), csp(nil))
	at, ok := placeOf(r.URL.Path)
	switch {
	case !ok:
		h.refuse(w, r, errNoPage)
	case at.of == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		h.page(w, r, at)
	case at.of != "" && r.Method == http.MethodPost:
		h.serve(w, r, at)
	default:
		w.Header().Set("Allow", map[bool]string{true: "GET, HEAD", false: "POST"}[at.of == ""])
		h.write(w, http.StatusMethodNotAllowed, refusal{"method", "This is asked for in another way."})
	}
}

// page serves the page in the frame: the same for every tool, so that it does not show which there are.
func (h *Pages) page(w http.ResponseWriter, r *http.Request, at place) {
	leave, ok := h.gate.Enter(r.Context())
	if !ok {
		h.refuse(w, r, errBusy)
		return
	}
	origins, err := h.service.cfg.Embeds.FramingOrigins(r.Context(), at.tenant)
	leave()
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	protect(w.Header(), csp(origins))
	config, err := json.Marshal(map[string][]string{"origins": append([]string{}, origins...)})
	var b bytes.Buffer
	if err == nil {
		err = parsed.Execute(&b, map[string]any{
			"Config": string(config),
			"Style":  template.CSS(style), //nolint:gosec // It is a file of ours.
			"Script": template.JS(script), //nolint:gosec // As above.
		})
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	_, _ = w.Write(b.Bytes()) // The client may be gone.
}

// serve answers the page, which sends its token with each request.
func (h *Pages) serve(w http.ResponseWriter, r *http.Request, at place) {
	if err := h.own.Check(r); err != nil {
		h.write(w, http.StatusForbidden, refusal{"origin", "Pages of other sites may not ask this."})
		return
	}
	g, err := h.open(r, at)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	r = r.WithContext(audit.With(r.Context(), audit.ActorOf(g.Principal(), "")))
	switch {
	case at.of == "form":
		h.form(w, r, &g)
	case at.once != "":
		h.follow(w, r, &g, at.once)
	default:
		h.call(w, r, &g)
	}
}

// open returns what the token of a request allows, for one request more of its caller.
func (h *Pages) open(r *http.Request, at place) (toolembed.Grant, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token, ok := toolembed.ReadToken(strings.TrimSpace(text))
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return toolembed.Grant{}, errToken
	}
	leave, ok := h.gate.Enter(r.Context())
	if !ok {
		return toolembed.Grant{}, errBusy
	}
	defer leave()
	g, err := h.service.cfg.Embeds.OpenEmbedToken(
		r.Context(), token.Tenant, token.ID, token.Hash(), r.Header.Get(OriginHeader),
	)
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return toolembed.Grant{}, errToken
	case err != nil:
		return toolembed.Grant{}, err //nolint:wrapcheck // It has an operation of its own.
	case g.TenantSlug != at.tenant || g.Slug != at.tool: // The token is of another page.
		return toolembed.Grant{}, errToken
	case !h.gate.Opens(string(g.Tenant)+" "+g.Principal().Subject+" "+g.ToolID, h.service.cfg.Calls.Now()):
		return toolembed.Grant{}, errBusy
	}
	return g, nil
}

// refusal is why a request is refused.
type refusal struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// refuse answers a request that gets nothing.
func (h *Pages) refuse(w http.ResponseWriter, r *http.Request, err error) {
	kind := tool.KindOf(err)
	switch {
	case errors.Is(err, errNoPage):
		h.write(w, http.StatusNotFound, refusal{"not_found", "There is no such page."})
	case errors.Is(err, errToken):
		h.write(w, http.StatusUnauthorized, refusal{"token", "The token opens nothing: ask for another one."})
	case errors.Is(err, errBusy), kind == tool.RateLimited:
		w.Header().Set("Retry-After", "5")
		h.write(w, http.StatusTooManyRequests, refusal{"rate_limited", "Too many requests. Try again in a minute."})
	case kind == tool.NotFound:
		h.write(w, http.StatusNotFound, refusal{"not_found", "This is not available any more."})
	case kind == tool.Denied:
		h.write(w, http.StatusForbidden, refusal{"denied", "This may not be done here."})
	case kind == tool.Conflict:
		h.write(w, http.StatusConflict, refusal{"conflict", "This was sent before, with other values. Load the page again."})
	case r.Context().Err() != nil: // The client is gone.
	default:
		h.service.cfg.Calls.Logger.ErrorContext(r.Context(), "a request of an embed failed", slog.Any("error", err))
		w.Header().Set("Retry-After", "5")
		h.write(w, http.StatusServiceUnavailable, refusal{"unavailable", "Something went wrong. Try again in a minute."})
	}
}

func (h *Pages) write(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		h.service.cfg.Calls.Logger.Error("writing an answer failed", slog.Any("error", err))
		status, raw = http.StatusInternalServerError, []byte(`{"code":"internal"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // The client may be gone.
}

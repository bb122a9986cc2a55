package inputpage

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Calls finds the calls that wait for people, and their tenants. Package store implements it.
type Calls interface {
	FindCall(ctx context.Context, tenant tool.TenantID, id string) (wait.Call, error)
	FindTenant(ctx context.Context, tenant tool.TenantID) (store.Tenant, error)
}

// Runs takes the answers. [runs.Service] implements it.
type Runs interface {
	SubmitResult(ctx context.Context, s runs.Submission) (runs.Submitted, error)
}

// Versions finds versions of tools. [resolver.Resolver] implements it.
type Versions interface {
	Version(ctx context.Context, tenant tool.TenantID, toolID, digest string) (*tool.Version, error)
}

// Files stores what people send with their answers, and has the images that they mark.
// [file.Service] implements it.
type Files interface {
	Receive(ctx context.Context, u file.Upload, from io.Reader) (file.File, error)
	OfCall(ctx context.Context, tenant tool.TenantID, callID string) ([]file.File, error)
	Find(ctx context.Context, tenant tool.TenantID, id string) (file.File, error)
	Open(ctx context.Context, tenant tool.TenantID, id string) (file.File, io.ReadCloser, error)
	MaxBytes() int64
}

// Config holds what the pages need. Calls and Runs are required.
type Config struct {
	Calls Calls
	Runs  Runs
	// Files stores files. Without it, no page takes any, and images of files are not shown.
	Files Files
	// Versions finds the tools that ask, whose configurations say which images are shown.
	// Without it, images are links.
	Versions Versions
	// MeterProvider counts requests. Defaults to none.
	MeterProvider metric.MeterProvider
	// Now returns the current time. Defaults to [time.Now].
	Now    func() time.Time
	Logger *slog.Logger // Defaults to discarding.
}

// Handler serves the pages below [input.Path]. It is safe for concurrent use.
type Handler struct {
	cfg      Config
	gate     *publicpage.Gate
	requests metric.Int64Counter
}

const (
	maxForm     = 4 << 20 // Bytes of an answer, as the browser encodes it: up to twelve for a character.
	requestTime = 15 * time.Second
	uploadTime  = 2 * time.Minute // Of a form with files.
)

var errIncomplete = errors.New("inputpage: Calls and Runs are required")

// New returns a handler.
func New(cfg Config) (*Handler, error) {
	if cfg.Calls == nil || cfg.Runs == nil {
		return nil, errIncomplete
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	requests, err := newCounter(cfg.MeterProvider)
	if err != nil {
		return nil, err
	}
	return &Handler{cfg: cfg, gate: publicpage.NewGate(), requests: requests}, nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	most := requestTime
	if isMultipart(r) {
		most = uploadTime
	}
	ctx, cancel := context.WithTimeout(r.Context(), most)
	defer cancel()
	counted := &counted{ResponseWriter: w}
	defer func() { h.count(ctx, counted.status) }()
	h.serve(ctx, counted, r)
}

func (h *Handler) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	publicpage.Protect(w.Header(), policy)
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD, POST")
		h.show(w, http.StatusMethodNotAllowed, page{Title: "This page takes answers", Notice: "Open the link in a browser."})
		return
	}
	token, part, below := strings.Cut(strings.TrimPrefix(r.URL.Path, input.Path), "/")
	if token == scriptName && !below {
		serveScript(w, r)
		return
	}
	call, err := h.open(ctx, token)
	if err == nil && below {
		err = h.serveImage(ctx, w, r, &call, part)
		if err == nil {
			return
		}
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	spec, err := input.Read(call.Arguments)
	if err != nil { // It was checked when it was asked.
		h.refuse(w, r, err)
		return
	}
	switch {
	case r.Method != http.MethodPost:
		h.showCall(ctx, w, call, &spec, &form{token: token})
	case call.Status == wait.CallResolved:
		h.showAnswered(w, &spec)
	case call.Status.Open():
		h.take(ctx, w, r, token, call, &spec)
	default:
		h.showOver(w, &spec)
	}
}

// Errors of links.
var (
	errUnknown = errors.New("the link opens nothing")
	errBusy    = errors.New("too many requests")
)

// open finds the call of a token, for one request more of its link.
func (h *Handler) open(ctx context.Context, text string) (wait.Call, error) {
	token, ok := input.ReadToken(text)
	if !ok {
		return wait.Call{}, errUnknown
	}
	now := h.cfg.Now()
	if !now.Before(token.Expires) {
		return wait.Call{}, errUnknown
	}
	call, err := h.find(ctx, token)
	if err != nil {
		return wait.Call{}, err
	}
	if !h.gate.Opens(call.ID, now) {
		return wait.Call{}, errBusy
	}
	return call, nil
}

// find finds the call that a token opens, when it is its turn. Links of a tenant that is
// suspended open nothing, as its keys.
func (h *Handler) find(ctx context.Context, token input.Token) (wait.Call, error) {
	leave, ok := h.gate.Enter(ctx)
	if !ok {
		return wait.Call{}, errBusy
	}
	defer leave()
	call, err := h.cfg.Calls.FindCall(ctx, token.Tenant, token.CallID)
	switch {
	case tool.KindOf(err) == tool.NotFound || err == nil && !token.Opens(&call, h.cfg.Now()):
		return wait.Call{}, errUnknown
	case err != nil:
		return wait.Call{}, err //nolint:wrapcheck // It is only logged.
	}
	tenant, err := h.cfg.Calls.FindTenant(ctx, token.Tenant)
	if err == nil && tenant.Status != store.TenantActive {
		err = errUnknown
	}
	return call, err //nolint:wrapcheck // It is only logged.
}

// take takes the answer of a form.
func (h *Handler) take(
	ctx context.Context, w http.ResponseWriter, r *http.Request, token string, call wait.Call, spec *input.Spec,
) {
	r.URL.RawQuery = "" // It is no answer, and mail programs append what they like.
	sent, err := h.read(ctx, w, r, token, &call, spec)
	switch {
	case errors.Is(err, errMediaType):
		h.show(w, http.StatusUnsupportedMediaType, page{Title: spec.Title, Notice: "Answer with the form of this page."})
		return
	case errors.Is(err, errUnknown), errors.Is(err, errBusy), errors.Is(err, errUploads), errors.Is(err, errStore):
		w.Header().Set("Connection", "close")
		h.refuse(w, r, err)
		return
	case err != nil:
		w.Header().Set("Connection", "close") // The rest of the body is not read.
		h.show(w, http.StatusBadRequest, page{
			Title: spec.Title, Notice: "The answer is too long, or damaged. Go back and try again.",
		})
		return
	}
	// The body may have come slowly: the link may have been revoked meanwhile.
	if err := h.again(ctx, token); err != nil {
		h.refuse(w, r, err)
		return
	}
	if sent.attached, err = h.attached(ctx, &call, spec); err != nil {
		h.refuse(w, r, err)
		return
	}
	sent.token = token
	answer, problems := spec.ReadForm(sent.values, sent.attached)
	if sent.problems = merged(problems, sent.problems); len(sent.problems) > 0 {
		h.showCall(ctx, w, call, spec, sent)
		return
	}
	h.submit(ctx, w, r, token, call, spec, answer)
}

// again finds out whether a link still opens its call.
func (h *Handler) again(ctx context.Context, token string) error {
	opened, ok := input.ReadToken(token)
	if !ok {
		return errUnknown
	}
	_, err := h.find(ctx, opened)
	return err
}

// submit hands on an answer that was checked.
func (h *Handler) submit(
	ctx context.Context, w http.ResponseWriter, r *http.Request, token string, call wait.Call, spec *input.Spec,
	answer map[string]any,
) {
	var done runs.Submitted
	result, err := input.Result(call.ID, answer)
	if err == nil {
		p := tool.Principal{
			Tenant: call.Principal.Tenant, Subject: subject + call.ID, Permissions: []string{wait.SubmitPermission},
		}
		done, err = h.cfg.Runs.SubmitResult(audit.With(ctx, audit.ActorOf(p, "")), runs.Submission{
			Principal: p, ID: call.ID, Result: result, ByLink: true,
		})
	}
	switch {
	case err == nil && done.Repeated:
		h.showAnswered(w, spec)
	case err == nil:
		// A reload does not send the answer again.
		w.Header().Set("Location", input.Path+token)
		w.WriteHeader(http.StatusSeeOther)
	case tool.KindOf(err) == tool.Conflict:
		h.showOver(w, spec)
	case tool.KindOf(err) == tool.Invalid:
		h.cfg.Logger.WarnContext(ctx, "an answer was refused", slog.String("invocation_id", call.ID), slog.Any("error", err))
		h.show(w, http.StatusUnprocessableEntity, page{
			Title: spec.Title, Notice: "The answer cannot be taken as it is: it may be too long. Go back and change it.",
		})
	default:
		h.refuse(w, r, err)
	}
}

const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
	// subject begins the subject of who answers on a page.
	subject = "page:"
)

// refuse answers a request that opens no page. It says nothing of why.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, errUnknown):
		h.show(w, http.StatusNotFound, page{
			Title: "This link opens nothing", Notice: "It may have expired. Ask who sent it to you for a new one.",
		})
	case errors.Is(err, errBusy), errors.Is(err, errUploads):
		w.Header().Set("Retry-After", "10")
		h.show(w, http.StatusTooManyRequests, page{Title: "One moment", Notice: "Too many requests. Try again in a minute."})
	case r.Context().Err() != nil: // Who asked is gone.
	default:
		h.cfg.Logger.ErrorContext(r.Context(), "a page of a request for input failed", slog.Any("error", err))
		w.Header().Set("Retry-After", "10")
		h.show(w, http.StatusServiceUnavailable, page{
			Title: "One moment", Notice: "Your answer may not have been taken. Open the link again in a minute to see.",
		})
	}
}

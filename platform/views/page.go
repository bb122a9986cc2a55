package views

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// pageTime bounds a request for a page.
const pageTime = 15 * time.Second

// Pages serves the pages of views below [view.Path]. It is safe for concurrent use.
type Pages struct {
	cfg    Config
	logger *slog.Logger
	gate   *publicpage.Gate
}

// NewPages returns a handler. Runs of the configuration is not used.
func NewPages(cfg Config, logger *slog.Logger) (*Pages, error) {
	if cfg.Views == nil || cfg.Record == nil || cfg.Tools == nil {
		return nil, errors.New("views: Config.Views, Record and Tools are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Pages{cfg: cfg, logger: logger, gate: publicpage.NewGate()}, nil
}

// Errors of links.
var (
	errUnknown = errors.New("the link opens nothing")
	errBusy    = errors.New("too many requests")
)

// ServeHTTP implements [http.Handler].
func (h *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	publicpage.Protect(w.Header(), policy)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		h.show(w, http.StatusMethodNotAllowed, page{Title: "This page only shows", Notice: "Open the link in a browser."})
		return
	}
	shown, err := h.page(ctx, strings.TrimPrefix(r.URL.Path, view.Path))
	switch {
	case err == nil:
		h.show(w, http.StatusOK, shown)
	case errors.Is(err, errUnknown):
		h.show(w, http.StatusNotFound, page{
			Title: "This link opens nothing", Notice: "It may have expired. Ask the person who sent it to you for a new one.",
		})
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "10")
		h.show(w, http.StatusTooManyRequests, page{Title: "One moment", Notice: "Too many requests. Try again in a minute."})
	case r.Context().Err() != nil: // The client is gone.
	default:
		h.logger.ErrorContext(ctx, "a page of a view failed", slog.Any("error", err))
		w.Header().Set("Retry-After", "10")
		h.show(w, http.StatusServiceUnavailable, page{Title: "One moment", Notice: "Open the link again in a minute."})
	}
}

// page returns what a token shows. The guard of published views is checked here too: a row never makes a page take
// input.
func (h *Pages) page(ctx context.Context, text string) (page, error) {
	token, ok := view.ReadToken(text)
	if !ok {
		return page{}, errUnknown
	}
	leave, ok := h.gate.Enter(ctx)
	if !ok {
		return page{}, errBusy
	}
	defer leave()
	v, err := h.cfg.Views.OpenView(ctx, token.Tenant, token.ID, token.Hash())
	switch {
	case tool.KindOf(err) == tool.NotFound && err != nil:
		return page{}, errUnknown
	case err != nil:
		return page{}, err //nolint:wrapcheck // It is only logged.
	case v.Kind.CheckDisplay() != nil:
		return page{}, errUnknown
	case !h.gate.Opens(v.ID, h.cfg.Now()):
		return page{}, errBusy
	}
	shown := page{Title: clean(v.Title), Description: clean(v.Description), Tool: v.Slug + " " + v.Version}
	shown.Until = v.ExpiresAt.UTC().Format("2 January 2006, 15:04") + " UTC"
	if v.Kind == view.Tool {
		return h.describe(ctx, &v, shown)
	}
	return h.result(ctx, &v, shown)
}

// result adds the result of a call. One that was deleted with its run opens nothing.
func (h *Pages) result(ctx context.Context, v *view.View, shown page) (page, error) {
	end, err := h.cfg.Record.FindCallEnd(ctx, v.Tenant, v.RunID)
	switch {
	case tool.KindOf(err) == tool.NotFound && err != nil, err == nil && end.Result == nil:
		return page{}, errUnknown
	case err != nil:
		return page{}, err //nolint:wrapcheck // It is only logged.
	}
	shown.Failed = end.Result.IsError
	if !shown.Failed && len(end.Result.Structured) > 0 {
		version, err := h.cfg.Tools.Version(ctx, v.Tenant, v.ToolID, v.Digest)
		switch {
		case err == nil:
			shown.Sections, shown.Blocks = drawn(version.Snapshot.Interaction.OutputSections, end.Result)
		case tool.KindOf(err) != tool.NotFound:
			return page{}, err //nolint:wrapcheck // It is only logged.
		}
	}
	if len(shown.Sections) == 0 {
		shown.Blocks = blocksOf(end.Result)
	}
	return shown, nil
}

// describe adds the description of a tool, and what it takes.
func (h *Pages) describe(ctx context.Context, v *view.View, shown page) (page, error) {
	version, err := h.cfg.Tools.Version(ctx, v.Tenant, v.ToolID, v.Digest)
	switch {
	case tool.KindOf(err) == tool.NotFound && err != nil:
		return page{}, errUnknown
	case err != nil:
		return page{}, err //nolint:wrapcheck // It is only logged.
	}
	d := &version.Snapshot.Definition
	shown.Blocks = []block{{Heading: clean(d.Name), Text: clean(d.Description)}}
	if fields := fieldsOf(d.InputSchema); len(fields) > 0 {
		shown.Blocks = append(shown.Blocks, block{Heading: "What it takes", Rows: fields})
	}
	return shown, nil
}

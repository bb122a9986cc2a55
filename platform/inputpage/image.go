package inputpage

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/wait"
)

// scriptName is that of the script with which people draw, below [input.Path].
const scriptName = "markup.js"

//go:embed markup.js
var script string

// serveScript serves the script of the pages, which is the same for all.
func serveScript(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, script) // Who asked is gone.
	}
}

// imagePart follows the token in the address of the image of a request.
const imagePart = "image"

// serveImage serves the image that a request asks to be marked, while it takes an answer: that
// image, and no other file. It fails where there is none.
func (h *Handler) serveImage(
	ctx context.Context, w http.ResponseWriter, r *http.Request, call *wait.Call, part string,
) error {
	spec, err := input.Read(call.Arguments)
	if err != nil || part != imagePart || r.Method == http.MethodPost || !call.Status.Open() ||
		!h.shows(ctx, call, &spec) {
		return errUnknown
	}
	found, content, err := h.cfg.Files.Open(ctx, call.Principal.Tenant, spec.Markup.FileID())
	if err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	defer func() { _ = content.Close() }()
	header := w.Header()
	header.Set("Content-Type", found.MediaType)
	header.Set("Content-Length", strconv.FormatInt(found.Size, 10))
	header.Set("Content-Disposition", "attachment")
	header.Set(policyHeader, "sandbox; default-src 'none'")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, content) // An answer that is too short says that it broke off.
	}
	return nil
}

// shows reports whether a request asks for marks on a file that is there, an image, and one of the
// tenant alone or of the same run.
func (h *Handler) shows(ctx context.Context, call *wait.Call, spec *input.Spec) bool {
	if h.cfg.Files == nil || spec.Markup == nil || spec.Markup.FileID() == "" {
		return false
	}
	found, err := h.cfg.Files.Find(ctx, call.Principal.Tenant, spec.Markup.FileID())
	return err == nil && found.IsImage() && (found.RootRunID == "" || found.RootRunID == call.RootRunID)
}

package views

import (
	"bytes"
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"
	"slices"

	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/platform/publicresult"
)

//go:embed page.html
var source string

//go:embed page.css
var own string

var style = publicpage.Style(publicresult.Style(), own)

var parsed = publicresult.Define(template.Must(template.New("page").Parse(source)))

// policy allows the page its own style, and nothing else.
var policy = publicpage.Policy(style, "'none'")

// page is what the template shows.
type page struct {
	Title       string
	Description string
	Notice      string // Instead of a view.
	Tool        string
	Until       string
	Failed      bool
	Sections    []publicresult.Section
	Blocks      []block
	Style       template.CSS
}

func (h *Pages) show(w http.ResponseWriter, status int, p page) {
	p.Style = template.CSS(style) //nolint:gosec // It is a file of ours.
	if slices.ContainsFunc(p.Blocks, func(b block) bool { return b.Image != "" }) {
		w.Header().Set(publicpage.PolicyHeader, policy+"; img-src data:")
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, p); err != nil {
		h.logger.Error("showing a page failed", slog.Any("error", err))
		http.Error(w, "something went wrong", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // The client is gone.
}

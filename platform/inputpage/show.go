package inputpage

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/wait"
)

//go:embed page.html
var source string

//go:embed page.css
var own string

var style = publicpage.Style(own)

var parsed = template.Must(template.New("page").Parse(source))

// policy allows the page its own style, and sending its own form; nothing else.
var policy = publicpage.Policy(style, "'self'")

// showImages shows the images of options that are at hosts which the tool names, and allows
// the page to load from these hosts.
func (h *Handler) showImages(ctx context.Context, header http.Header, call wait.Call, fields []shown) {
	config := h.config(ctx, call)
	var hosts []string
	for _, f := range fields {
		for i, o := range f.Options {
			if !config.Shows(o.Link) {
				continue
			}
			f.Options[i].Shown = true
			if source := "https://" + strings.ToLower(o.Host); !slices.Contains(hosts, source) {
				hosts = append(hosts, source)
			}
		}
	}
	if len(hosts) > 0 {
		header.Set(policyHeader, policy+"; img-src "+strings.Join(hosts, " "))
	}
}

// config returns the configuration of the tool that asks. One that cannot be had shows no images.
func (h *Handler) config(ctx context.Context, call wait.Call) input.Config {
	if h.cfg.Versions == nil {
		return input.Config{}
	}
	version, err := h.cfg.Versions.Version(ctx, call.Principal.Tenant, call.ToolID, call.Digest)
	if err != nil {
		h.cfg.Logger.WarnContext(ctx, "finding a tool failed: its images are links", slog.String("invocation_id", call.ID),
			slog.Any("error", err))
		return input.Config{}
	}
	config, err := input.ReadConfig(version.Snapshot.Config)
	if err != nil { // It was checked when it was published.
		return input.Config{}
	}
	return config
}

const policyHeader = publicpage.PolicyHeader

// page is what the template shows.
type page struct {
	Title        string
	Instructions string
	Notice       string // Instead of a form.
	Fields       []shown
	Faults       int  // Fields with a problem.
	Multipart    bool // The form has files.
	Style        template.CSS
	Script       string // Its address; empty for none.
	Nonce        string // Of the script.
}

// shown is a field as the page shows it.
type shown struct {
	Key, Label, Help string
	Kind             string // "text", "number", "choice", "yesno", "file" or "markup".
	Several          bool
	Required         bool
	Value            string // What was sent before.
	Options          []option
	Files            []sentFile // That were sent before.
	Accept, Limits   string     // Of files.
	MaxBytes         int64
	Markup           *canvas
	Problem          string
}

type option struct {
	ID, Label  string
	Link, Host string // Of its image, if it has one.
	Shown      bool   // Rather than linked to.
	Chosen     bool
}

func (h *Handler) show(w http.ResponseWriter, status int, p page) {
	p.Style = template.CSS(style) //nolint:gosec // It is a file of ours.
	var b bytes.Buffer
	if err := parsed.Execute(&b, p); err != nil {
		h.cfg.Logger.Error("showing a page failed", slog.Any("error", err))
		http.Error(w, "something went wrong", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // Who asked is gone.
}

// showCall shows a request as it stands, with what was sent and what is wrong with it.
func (h *Handler) showCall(
	ctx context.Context, w http.ResponseWriter, call wait.Call, spec *input.Spec, sent *form,
) {
	switch {
	case call.Status == wait.CallResolved:
		h.show(w, http.StatusOK, page{Title: spec.Title, Notice: "Thank you: the answer has arrived."})
		return
	case !call.Status.Open():
		h.showOver(w, spec)
		return
	}
	p := page{Title: spec.Title, Instructions: spec.Instructions, Faults: len(sent.problems), Multipart: spec.TakesFiles()}
	for _, f := range spec.Fields() {
		s := showField(&f, spec, sent.values, sent.problems[f.Key])
		if f.Type == field.Upload && h.cfg.Files != nil {
			h.showFiles(&s, &f, sent)
		}
		p.Fields = append(p.Fields, s)
	}
	h.showImages(ctx, w.Header(), call, p.Fields)
	if spec.Markup != nil {
		h.showMarkup(ctx, w.Header(), &call, spec, &p, sent)
	}
	status := http.StatusOK
	if len(sent.problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	h.show(w, status, p)
}

// showAnswered tells who sends an answer that another was first.
func (h *Handler) showAnswered(w http.ResponseWriter, spec *input.Spec) {
	h.show(w, http.StatusConflict, page{
		Title: spec.Title, Notice: "This was answered before: what you sent now was not kept.",
	})
}

func (h *Handler) showOver(w http.ResponseWriter, spec *input.Spec) {
	h.show(w, http.StatusGone, page{Title: spec.Title, Notice: "No answer is needed any more."})
}

func showField(f *field.Field, spec *input.Spec, sent url.Values, problem string) shown {
	s := shown{
		Key: f.Key, Label: f.Label, Help: f.Help, Required: f.Required, Value: sent.Get(f.Key), Problem: problem,
		Several: f.Multiple, Kind: "text",
	}
	switch f.Type { //nolint:exhaustive // A request has no others; they would be texts.
	case field.Number:
		s.Kind = "number"
	case field.Boolean:
		s.Kind = "yesno"
	case field.Upload:
		s.Kind, s.Value = "file", ""
	case field.Object:
		s.Kind = "markup"
	case field.Enum:
		s.Kind = "choice"
		for i, o := range f.Options {
			var id string
			_ = json.Unmarshal(o.Value, &id) // It is a string of ours.
			link := spec.Choose.Options[i].ImageURL
			s.Options = append(s.Options, option{
				ID: id, Label: o.Label, Link: link, Host: input.Host(link), Chosen: slices.Contains(sent[f.Key], id),
			})
		}
	}
	return s
}

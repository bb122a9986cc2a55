package sessions

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/visible"
	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

//go:embed page.html
var source string

//go:embed page.css
var style string

var parsed = template.Must(template.New("page").Parse(source))

// csp allows the page its own style, and sending its own form; nothing else.
var csp = publicpage.Policy(style, "'self'")

const (
	pageTime = 30 * time.Second
	callTime = 15 * time.Second // How long the page waits for the end of a call.
	maxForm  = 1 << 20
)

// Tenants has the names of tenants. [store.Store] implements it.
type Tenants interface {
	FindTenant(ctx context.Context, tenant tool.TenantID) (store.Tenant, error)
}

// Pages serves the pages of links below [toolsession.Path]. It is safe for concurrent use.
type Pages struct {
	service *Service
	tenants Tenants
	gate    *publicpage.Gate
}

// NewPages returns a handler.
func NewPages(s *Service, tenants Tenants) *Pages {
	return &Pages{service: s, tenants: tenants, gate: publicpage.NewGate()}
}

// page is what the template shows.
type page struct {
	Title, Asks, Notice string
	Output              []row
	Text                string
	Again, AgainWords   string
	Form                bool
	Once, Guest         string
	Fields              []shown
	Faults              int
	Style               template.CSS
}

type row struct{ Name, Value string }

// shown is a field as the page shows it.
type shown struct {
	ID, Name, Label, Help, Section string
	Kind, Mode                     string // "choice", "area", or the type of an input.
	Several, Required              bool
	Value, Problem                 string
	Options                        []option
}

type option struct {
	ID, Value, Label string
	Chosen           bool
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
	publicpage.Protect(w.Header(), csp)
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD, POST")
		h.show(w, http.StatusMethodNotAllowed, page{Title: "This page takes a form", Notice: "Open the link in a browser."})
		return
	}
	text, id, below := strings.Cut(strings.TrimPrefix(r.URL.Path, toolsession.Path), "/")
	session, err := h.open(ctx, text)
	switch {
	case err != nil:
		h.refuse(w, r, err)
	case below:
		h.result(ctx, w, r, &session, text, id)
	case r.Method == http.MethodPost:
		h.take(ctx, w, r, &session, text)
	default:
		h.form(ctx, w, r, &session, nil, nil)
	}
}

// open returns the session of a token, for one request more of its link.
func (h *Pages) open(ctx context.Context, text string) (toolsession.Session, error) {
	token, ok := toolsession.ReadToken(text)
	if !ok {
		return toolsession.Session{}, errUnknown
	}
	leave, ok := h.gate.Enter(ctx)
	if !ok {
		return toolsession.Session{}, errBusy
	}
	defer leave()
	session, err := h.service.cfg.Sessions.OpenToolSession(ctx, token.Tenant, token.SessionID, token.Hash())
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return toolsession.Session{}, errUnknown
	case err != nil:
		return toolsession.Session{}, fmt.Errorf("opening a session: %w", err)
	case !h.gate.Opens(session.ID, h.service.cfg.Now()):
		return toolsession.Session{}, errBusy
	}
	return session, nil
}

// fields returns the form of a session, where its tool may be called by the link now. Where it may not, the link
// opens nothing.
func (h *Pages) fields(ctx context.Context, session *toolsession.Session) (Form, error) {
	resolved, err := h.service.open(ctx, session)
	if err != nil {
		switch tool.KindOf(err) { //nolint:exhaustive // Others are of the platform.
		case tool.NotFound, tool.Denied, tool.Conflict:
			return Form{}, errUnknown
		}
		return Form{}, err
	}
	definition := &resolved.Version.Snapshot.Definition
	if err := checkForm(session, definition); err != nil { // What it asked when the link was made, it may ask no more.
		return Form{}, errUnknown
	}
	return Fields(session, definition)
}

// form shows the form, with what was sent and what is wrong with it.
func (h *Pages) form(
	ctx context.Context, w http.ResponseWriter, r *http.Request, session *toolsession.Session, sent url.Values,
	problems map[string]string,
) {
	form, err := h.fields(ctx, session)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	owner, err := h.tenants.FindTenant(ctx, session.Tenant)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	p := page{
		Title: clean(session.Title), Asks: firstOf(clean(owner.Name), "An organisation"), Form: true, Faults: len(problems),
		Once: sent.Get("once"), Guest: sent.Get("guest"), Notice: problems[""],
	}
	if p.Once == "" {
		p.Once = once()
	}
	section := ""
	for i := range form.Fields {
		s := show(&form.Fields[i], i, sent, problems[form.Fields[i].Key])
		if when := field.ConditionWords(form.all, &form.Fields[i]); when != "" {
			s.Help = strings.TrimSpace(s.Help + "\nOnly if " + clean(when) + ".")
		}
		if s.Section == section {
			s.Section = ""
		} else {
			section = s.Section
		}
		p.Fields = append(p.Fields, s)
	}
	status := http.StatusOK
	if len(problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	h.show(w, status, p)
}

// once makes what a form is sent once with.
func once() string {
	raw := make([]byte, 18)
	_, _ = rand.Read(raw) // It never fails.
	return base64.RawURLEncoding.EncodeToString(raw)
}

// take takes a form.
func (h *Pages) take(
	ctx context.Context, w http.ResponseWriter, r *http.Request, session *toolsession.Session, token string,
) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/x-www-form-urlencoded" {
		h.show(w, http.StatusUnsupportedMediaType, page{Title: clean(session.Title), Notice: "Send the form of this page."})
		return
	}
	r.URL.RawQuery = "" // It is no answer, and mail programs append what they like.
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		w.Header().Set("Connection", "close")
		h.show(w, http.StatusBadRequest, page{
			Title: clean(session.Title), Notice: "The form is too long, or damaged. Go back and try again.",
		})
		return
	}
	form, err := h.fields(ctx, session)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	guest := strings.TrimSpace(r.PostForm.Get("guest"))
	input, problems := readForm(&form, r.PostForm)
	if utf8.RuneCountInString(guest) > toolsession.MaxGuest || !utf8.ValidString(guest) {
		problems[""] = "The name is too long."
	}
	if len(problems) > 0 {
		h.form(ctx, w, r, session, r.PostForm, problems)
		return
	}
	raw, err := json.Marshal(input)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	nonce := r.PostForm.Get("once")
	if len(nonce) > 64 || !utf8.ValidString(nonce) || strings.ContainsRune(nonce, 0) {
		nonce = ""
	}
	made, _, err := h.service.Submit(ctx, Input{Session: session, Guest: clean(guest), Nonce: nonce, Input: raw}, callTime)
	switch {
	case err == nil:
		// A reload does not send the form again.
		w.Header().Set("Location", toolsession.Path+token+"/"+made.ID)
		w.WriteHeader(http.StatusSeeOther)
	case tool.KindOf(err) == tool.Invalid:
		h.form(ctx, w, r, session, r.PostForm, problemsOf(&form, err))
	case tool.KindOf(err) == tool.Conflict:
		h.show(w, http.StatusConflict, page{Title: clean(session.Title), Notice: "Nothing more is taken here."})
	case tool.KindOf(err) == tool.NotFound, tool.KindOf(err) == tool.Denied:
		h.refuse(w, r, errUnknown)
	case tool.KindOf(err) == tool.RateLimited:
		h.refuse(w, r, errBusy)
	default:
		h.refuse(w, r, err)
	}
}

// problemsOf returns what the platform found wrong, by the field.
func problemsOf(form *Form, err error) map[string]string {
	e := tool.AsError(err)
	first, _, _ := strings.Cut(strings.TrimPrefix(e.Path, "/input/"), "/")
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(first)
	if !form.has(key) {
		key = ""
	}
	return map[string]string{key: clean(tool.Clip(e.Msg, 300))}
}

// result shows what became of a submission.
func (h *Pages) result(
	ctx context.Context, w http.ResponseWriter, r *http.Request, session *toolsession.Session, token, id string,
) {
	if r.Method == http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD")
		h.show(w, http.StatusMethodNotAllowed, page{Title: clean(session.Title), Notice: "This page shows a result."})
		return
	}
	found, err := h.service.cfg.Sessions.FindSubmission(ctx, session.Tenant, session.ID, id)
	if err == nil && !found.ByLink { // Those of members are not for guests.
		err = errUnknown
	}
	if err == nil {
		found, err = h.service.Settle(ctx, found)
	}
	if err != nil {
		if tool.KindOf(err) == tool.NotFound {
			err = errUnknown
		}
		h.refuse(w, r, err)
		return
	}
	at := toolsession.Path + token
	p := page{Title: clean(session.Title), Again: at, AgainWords: "Send another"}
	switch found.Status {
	case toolsession.Done:
		p.Notice = "Thank you: this has arrived."
		p.Output, p.Text = rowsOf(found.Output)
	case toolsession.Failed:
		p.Notice = "This has arrived, and could not be worked on."
	case toolsession.Running:
		p.Notice = "Thank you: this has arrived, and is being worked on."
		p.Again, p.AgainWords = at+"/"+found.ID, "See whether it is done"
	}
	h.show(w, http.StatusOK, p)
}

// maxRows and maxShown bound what a page shows of a result.
const (
	maxRows  = 50
	maxShown = 64 << 10
)

// rowsOf returns the members of a result for a table, or else its text.
func rowsOf(raw json.RawMessage) (rows []row, text string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || len(members) == 0 || len(members) > maxRows {
		return nil, clean(tool.Clip(plain(raw), maxShown))
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		rows = append(rows, row{clean(key), clean(tool.Clip(plain(redact.JSON(members[key])), maxShown/maxRows))})
	}
	return rows, ""
}

// plain returns a string without its quotes, and other JSON as it is written.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// clean returns a text as pages show it: without hidden characters and what looks like a secret.
func clean(text string) string { return redact.Text(visible.Text(text)) }

// show returns a field as the page shows it.
func show(f *field.Field, at int, sent url.Values, problem string) shown {
	s := shown{
		ID: fmt.Sprintf("f%d", at), Name: name(f.Key), Label: clean(firstOf(f.Label, f.Key)), Section: clean(f.Section),
		Help: clean(strings.TrimSpace(f.Description + "\n" + f.Help)), Required: f.Required, Problem: problem,
		Several: f.Multiple,
		Kind:    "text", Value: value(f, sent),
	}
	switch f.Type { //nolint:exhaustive // Others are texts.
	case field.Number:
		s.Mode = "decimal"
		if f.Unit != "" {
			s.Label += " (" + clean(f.Unit) + ")"
		}
	case field.Boolean:
		s.Kind, s.Several = "choice", false
		for i, o := range []option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}} {
			o.ID, o.Chosen = fmt.Sprintf("f%d-%d", at, i), s.Value == o.Value
			s.Options = append(s.Options, o)
		}
	case field.Enum:
		s.Kind = "choice"
		chosen := sent[name(f.Key)]
		if sent == nil && len(f.Default) > 0 {
			chosen = []string{string(f.Default)}
		}
		for i, o := range f.Options {
			s.Options = append(s.Options, option{
				ID: fmt.Sprintf("f%d-%d", at, i), Value: string(o.Value), Label: clean(firstOf(o.Label, plain(o.Value))),
				Chosen: slices.Contains(chosen, string(o.Value)),
			})
		}
	case field.Email:
		s.Kind = "email"
	case field.Phone:
		s.Kind = "tel"
	case field.URL, field.Media:
		s.Kind = "url"
	case field.Date:
		s.Kind = "date"
		if f.Display == field.Moment || f.Display == field.Time {
			s.Kind = "text"
		}
	case field.Array, field.Object:
		s.Kind = "area"
		hint := "As JSON."
		if lines(f) {
			hint = "One on each line."
		}
		s.Help = strings.TrimSpace(s.Help + "\n" + hint)
	case field.Text:
		if f.Display == field.Textarea || f.Display == field.Markdown || f.Display == field.Code {
			s.Kind = "area"
		}
	}
	return s
}

// value returns what the field holds at first: what was sent, or the default.
func value(f *field.Field, sent url.Values) string {
	switch {
	case sent != nil:
		return sent.Get(name(f.Key))
	case len(f.Default) == 0 || string(f.Default) == "null":
		return ""
	case f.Type == field.Boolean || f.Type == field.Number:
		return string(f.Default)
	}
	return plain(f.Default)
}

// refuse answers a request that opens no page. It says nothing of why.
func (h *Pages) refuse(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, errUnknown):
		h.show(w, http.StatusNotFound, page{
			Title: "This link opens nothing", Notice: "It may have expired. Ask the person who sent it to you for a new one.",
		})
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "10")
		h.show(w, http.StatusTooManyRequests, page{Title: "One moment", Notice: "Too many requests. Try again in a minute."})
	case r.Context().Err() != nil: // The client is gone.
	default:
		h.service.cfg.Logger.ErrorContext(r.Context(), "a page of a tool session failed", slog.Any("error", err))
		w.Header().Set("Retry-After", "10")
		h.show(w, http.StatusServiceUnavailable, page{Title: "One moment", Notice: "Open the link again in a minute."})
	}
}

func (h *Pages) show(w http.ResponseWriter, status int, p page) {
	p.Style = template.CSS(style) //nolint:gosec // It is a file of ours.
	var b bytes.Buffer
	if err := parsed.Execute(&b, p); err != nil {
		h.service.cfg.Logger.Error("showing a page failed", slog.Any("error", err))
		http.Error(w, "something went wrong", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // The client may be gone.
}

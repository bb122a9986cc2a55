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
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/platform/publicform"
	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/platform/publicresult"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

//go:embed page.html
var source string

//go:embed page.css
var own string

var style = publicpage.Style(publicresult.Style(), own)

var parsed = publicresult.Define(template.Must(template.New("page").Parse(source)))

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
	Sections            []publicresult.Section
	Output              []publicform.Row
	Text                string
	Again, AgainWords   string
	Form                bool
	Once, Guest         string
	Fields              []publicform.Shown
	Faults              int
	Style               template.CSS
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
	session, err := h.service.cfg.Sessions.OpenToolSession(ctx, token.Tenant, token.ID, token.Hash())
	switch {
	case err != nil && tool.KindOf(err) == tool.NotFound:
		return toolsession.Session{}, errUnknown
	case err != nil:
		return toolsession.Session{}, fmt.Errorf("opening a session: %w", err)
	case !h.gate.Opens(session.ID, h.service.cfg.Calls.Now()):
		return toolsession.Session{}, errBusy
	}
	return session, nil
}

// fields returns the form of a session, where its tool may be called by the link now. Where it may not, the link
// opens nothing.
func (h *Pages) fields(ctx context.Context, session *toolsession.Session) (publicform.Form, error) {
	resolved, err := h.service.open(ctx, session)
	if err != nil {
		switch tool.KindOf(err) { //nolint:exhaustive // Others are of the platform.
		case tool.NotFound, tool.Denied, tool.Conflict:
			return publicform.Form{}, errUnknown
		}
		return publicform.Form{}, err
	}
	definition := &resolved.Version.Snapshot.Definition
	if err := checkForm(session, definition); err != nil { // What it asked when the link was made, it may ask no more.
		return publicform.Form{}, errUnknown
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
		Title: publicform.Clean(session.Title), Asks: firstOf(publicform.Clean(owner.Name), "An organisation"), Form: true,
		Faults: len(problems),
		Once:   sent.Get("once"), Guest: sent.Get("guest"), Notice: problems[""],
		Fields: form.Show(sent, problems),
	}
	if p.Once == "" {
		p.Once = once()
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
		h.show(w, http.StatusUnsupportedMediaType, page{
			Title: publicform.Clean(session.Title), Notice: "Send the form of this page.",
		})
		return
	}
	r.URL.RawQuery = "" // It is no answer, and mail programs append what they like.
	r.Body = publicpage.Body(w, r, maxForm)
	if err := r.ParseForm(); err != nil {
		w.Header().Set("Connection", "close")
		h.show(w, http.StatusBadRequest, page{
			Title: publicform.Clean(session.Title), Notice: "The form is too long, or damaged. Go back and try again.",
		})
		return
	}
	form, err := h.fields(ctx, session)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	guest := strings.TrimSpace(r.PostForm.Get("guest"))
	input, problems := form.Read(r.PostForm)
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
	link, _ := toolsession.ReadToken(token) // It opened the session.
	made, _, err := h.service.Submit(ctx, Input{
		Session: session, Link: link.Hash(), Guest: named(guest), Nonce: nonce, Input: raw,
	}, callTime)
	switch {
	case err == nil:
		// A reload does not send the form again.
		w.Header().Set("Location", toolsession.Path+token+"/"+made.ID)
		w.WriteHeader(http.StatusSeeOther)
	case tool.KindOf(err) == tool.Invalid:
		h.form(ctx, w, r, session, r.PostForm, form.Problems(err))
	case tool.KindOf(err) == tool.Conflict:
		h.show(w, http.StatusConflict, page{Title: publicform.Clean(session.Title), Notice: "Nothing more is taken here."})
	case tool.KindOf(err) == tool.NotFound, tool.KindOf(err) == tool.Denied:
		h.refuse(w, r, errUnknown)
	case tool.KindOf(err) == tool.RateLimited:
		h.refuse(w, r, errBusy)
	default:
		h.refuse(w, r, err)
	}
}

// named returns the name of a guest as it is stored. What stands for what looks like a secret may be longer than that.
func named(guest string) string {
	name := []rune(publicform.Clean(guest))
	return string(name[:min(len(name), toolsession.MaxGuest)])
}

// result shows what became of a submission.
func (h *Pages) result(
	ctx context.Context, w http.ResponseWriter, r *http.Request, session *toolsession.Session, token, id string,
) {
	if r.Method == http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD")
		h.show(w, http.StatusMethodNotAllowed, page{
			Title: publicform.Clean(session.Title), Notice: "This page shows a result.",
		})
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
	at := "../" + token // Of the page before this one, under any prefix.
	p := page{Title: publicform.Clean(session.Title), Again: at, AgainWords: "Send another"}
	switch found.Status {
	case toolsession.Done:
		p.Notice = "Thank you: this has arrived."
		sections, rest := h.sections(ctx, session, found.Output)
		if p.Sections = sections; rest != nil {
			p.Output, p.Text = publicform.Rows(rest)
		}
	case toolsession.Failed:
		p.Notice = "This has arrived, and could not be worked on."
	case toolsession.Running:
		p.Notice = "Thank you: this has arrived, and is being worked on."
		p.Again, p.AgainWords = at+"/"+found.ID, "See whether it is done"
	}
	h.show(w, http.StatusOK, p)
}

// sections returns the parts of a result that the tool of a session has sections for, and the rest of it. Where the
// version is not found any more, that is all of it.
func (h *Pages) sections(
	ctx context.Context, session *toolsession.Session, output json.RawMessage,
) ([]publicresult.Section, json.RawMessage) {
	version, err := h.service.cfg.Calls.Tools.Version(ctx, session.Tenant, session.ToolID, session.Digest)
	if err != nil {
		return nil, output
	}
	return publicresult.Read(version.Snapshot.Interaction.OutputSections, output)
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
		h.service.cfg.Calls.Logger.ErrorContext(r.Context(), "a page of a tool session failed", slog.Any("error", err))
		w.Header().Set("Retry-After", "10")
		h.show(w, http.StatusServiceUnavailable, page{Title: "One moment", Notice: "Open the link again in a minute."})
	}
}

func (h *Pages) show(w http.ResponseWriter, status int, p page) {
	p.Style = template.CSS(style) //nolint:gosec // It is a file of ours.
	var b bytes.Buffer
	if err := parsed.Execute(&b, p); err != nil {
		h.service.cfg.Calls.Logger.Error("showing a page failed", slog.Any("error", err))
		http.Error(w, "something went wrong", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // The client may be gone.
}

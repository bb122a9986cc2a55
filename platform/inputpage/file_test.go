package inputpage_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

// part is a part of a form: a value, or a file where it has a name.
type part struct{ key, name, content string }

// multipartOf encodes parts as a browser does.
func multipartOf(t *testing.T, parts ...part) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.key + `"`}}
		if p.name != "" {
			header.Set("Content-Disposition", `form-data; name="`+p.key+`"; filename="`+p.name+`"`)
			header.Set("Content-Type", "image/png")
		}
		to, err := w.CreatePart(header)
		require.NoError(t, err)
		_, err = io.WriteString(to, p.content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return w.FormDataContentType(), b.String()
}

func (s *site) post(contentType, body string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+s.link, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp, string(raw)
}

const askFiles = `{"title":"Claim","questions":[{"id":"why","label":"Why?"},
	{"id":"photo","label":"Photo","type":"file","accept":["image/*"]},
	{"id":"papers","label":"Papers","type":"file","optional":true,"maxFiles":2,"maxBytes":100}]}`

func (s *site) sent() []file.File {
	s.t.Helper()
	all, err := s.files.OfCall(s.t.Context(), s.call.Principal.Tenant, s.call.ID)
	require.NoError(s.t, err)
	return all
}

// Files go with the form, without JavaScript; those that are sent stay while other answers are wrong.
func TestFilesAreSent(t *testing.T) {
	t.Parallel()

	s := newSite(t, askFiles)
	resp, page := s.send(http.MethodGet, s.link, nil)
	require.NotContains(t, resp.Header.Get("Content-Security-Policy"), "script-src")
	for _, want := range []string{
		`enctype="multipart/form-data"`, `type="file" name="photo"`, `accept="image/*"`, "Up to 2 files, each up to 100 bytes",
	} {
		require.Contains(t, page, want)
	}
	photo := string(pngOf(t, 2, 2))
	kind, body := multipartOf(t, part{"why", "", ""}, part{"photo", "../a<b>.png", photo}, part{"papers", "", ""},
		part{"papers", "a.txt", "one"}, part{"other", "x.txt", "dropped"})
	resp, page = s.post(kind, body)
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, page, "an answer is needed")
	require.Contains(t, page, "a_b_.png")
	require.Len(t, s.sent(), 2)
	ids := regexp.MustCompile(`name="(\w+)" value="([0-9a-f-]{36})"`).FindAllStringSubmatch(page, -1)
	require.Len(t, ids, 2)

	kind, body = multipartOf(t, part{"why", "", "rain"}, part{ids[0][1], "", ids[0][2]}, part{ids[1][1], "", ids[1][2]},
		part{"papers", "b.txt", "two"})
	resp, _ = s.post(kind, body)
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	require.Len(t, s.taken, 1)
	var got struct {
		Answer struct {
			Why    string
			Photo  file.Reference
			Papers []file.Reference
		}
	}
	require.NoError(t, json.Unmarshal(s.taken[0].Result, &got))
	require.Equal(t, "rain", got.Answer.Why)
	require.Equal(t, "a_b_.png", got.Answer.Photo.Name)
	require.Equal(t, file.PNG, got.Answer.Photo.MediaType)
	require.EqualValues(t, len(photo), got.Answer.Photo.Size)
	require.Len(t, got.Answer.Papers, 2)

	// The link takes no more files once it was answered, and never shows any.
	resp, _ = s.post(kind, body)
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	require.Len(t, s.sent(), 3)
	for _, path := range []string{"/image", "/" + got.Answer.Photo.FileID, "/files/" + got.Answer.Photo.FileID} {
		resp, _ = s.send(http.MethodGet, s.link+path, nil)
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
	}
}

func TestFilesThatAreNotTaken(t *testing.T) {
	t.Parallel()

	photo := string(pngOf(t, 2, 2))
	for name, tt := range map[string]struct {
		parts  []part
		says   string
		stored int
	}{
		"Missing":  {[]part{{"why", "", "x"}}, "an answer is needed", 0},
		"Type":     {[]part{{"photo", "a.png", "hello"}}, "expected image/*", 0},
		"HTML":     {[]part{{"papers", "a.txt", "<html>"}}, "markup is not accepted", 0},
		"Polyglot": {[]part{{"photo", "a.png", photo + "<script>"}}, "follows the end", 0},
		"Empty":    {[]part{{"photo", "a.png", ""}}, "the file is empty", 0},
		"Large":    {[]part{{"papers", "a.txt", strings.Repeat("a", 101)}}, "too large", 0},
		"Many":     {[]part{{"papers", "a", "a"}, {"papers", "b", "b"}, {"papers", "c", "c"}}, "too many files", 2},
		"Two":      {[]part{{"photo", "a", photo}, {"photo", "b", photo}}, "too many files", 1},
		"ForgedID": {[]part{{"photo", "", uuid.NewString()}}, "was not sent to this request", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, askFiles)
			kind, body := multipartOf(t, append([]part{{"why", "", "x"}}, tt.parts...)...)
			resp, page := s.post(kind, body)
			require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
			require.Contains(t, page, tt.says)
			require.Empty(t, s.taken)
			require.Len(t, s.sent(), tt.stored)
		})
	}
}

// Forms that break off, and links that do not open the request any more, take no answer.
func TestFormsThatBreakOff(t *testing.T) {
	t.Parallel()

	photo := string(pngOf(t, 2, 2))
	s := newSite(t, askFiles)
	kind, body := multipartOf(t, part{"why", "", "x"}, part{"photo", "a.png", photo})
	for _, cut := range []int{len(body) - 10, len(body) - 70, len(body) / 2, 20} {
		resp, _ := s.post(kind, body[:cut])
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, cut)
	}
	for _, other := range []string{"multipart/form-data", "multipart/mixed; boundary=x", "image/png"} {
		resp, _ := s.post(other, body)
		require.GreaterOrEqual(t, resp.StatusCode, http.StatusBadRequest, other)
	}
	var many []part
	for range 400 {
		many = append(many, part{"why", "", "x"})
	}
	manyKind, manyBody := multipartOf(t, many...)
	resp, _ := s.post(manyKind, manyBody)
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	require.Empty(t, s.taken)
	before := len(s.sent())

	expired, err := input.Link(&s.call, time.Now().Add(-time.Second))
	require.NoError(t, err)
	good := s.link
	s.link = expired
	resp, _ = s.post(kind, body)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	s.link = good
	for _, change := range []func(d *desk){
		func(d *desk) { d.call.Status = wait.CallExpired }, func(d *desk) { d.call.Key = []byte("another") },
	} {
		s.set(change)
		resp, _ = s.post(kind, body)
		require.GreaterOrEqual(t, resp.StatusCode, http.StatusNotFound)
	}
	require.Len(t, s.sent(), before)
	plain := newSite(t, ask)
	resp, _ = plain.post(kind, body)
	require.Equal(t, http.StatusUnsupportedMediaType, resp.StatusCode, "a form without files")
}

// markupSite is a site that asks for marks on an image.
func markupSite(t *testing.T, change func(*file.Upload)) *site {
	t.Helper()
	s := newSite(t, `{"title":"x","approve":{}}`)
	u := file.Upload{Tenant: s.call.Principal.Tenant, Name: "plan.png"}
	if change != nil {
		change(&u)
	}
	shown, err := s.files.Upload(t.Context(), u, pngOf(t, 400, 300))
	require.NoError(t, err)
	s.set(func(d *desk) {
		d.call.RootRunID = "run"
		d.call.Arguments = json.RawMessage(`{"title":"Where?","markup":{"image":"` + shown.ID + `"}}`)
	})
	return s
}

// The image is shown to who has the link, and no other file is; the script has a nonce of its own.
func TestMarkupPage(t *testing.T) {
	t.Parallel()

	s := markupSite(t, nil)
	resp, page := s.send(http.MethodGet, s.link, nil)
	nonce := regexp.MustCompile(`<script src="markup.js" nonce="(\w+)" defer></script>`).FindStringSubmatch(page)
	require.Len(t, nonce, 2)
	policy := resp.Header.Get("Content-Security-Policy")
	require.True(t, strings.HasSuffix(policy, "; script-src 'nonce-"+nonce[1]+"'; img-src 'self'"), policy)
	require.NotContains(t, policy, "unsafe")
	require.Contains(t, page, `<img id="image" src="`+strings.TrimPrefix(s.link, input.Path)+`/image"`)
	resp, content := s.send(http.MethodGet, s.link+"/image", nil)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, string(pngOf(t, 400, 300)), content)
	for name, want := range map[string]string{
		"Content-Type": file.PNG, "Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff",
		"Cache-Control": "no-store", "Content-Security-Policy": "sandbox; default-src 'none'",
		"Referrer-Policy": "no-referrer",
	} {
		require.Equal(t, want, resp.Header.Get(name))
	}
	resp, content = s.send(http.MethodGet, "/i/markup.js", nil)
	require.Contains(t, resp.Header.Get("Content-Type"), "text/javascript")
	require.Contains(t, content, "use strict")
	resp, _ = s.send(http.MethodPost, s.link+"/image", nil)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	s.set(func(d *desk) { d.call.Status = wait.CallResolved })
	resp, _ = s.send(http.MethodGet, s.link+"/image", nil)
	require.Equal(t, http.StatusNotFound, resp.StatusCode, "it was answered")

	for name, change := range map[string]func(*file.Upload){
		"OtherTenant": func(u *file.Upload) { u.Tenant = tool.TenantID(uuid.NewString()) },
		"OtherRun":    func(u *file.Upload) { u.RunID, u.RootRunID = "other", "other" },
	} {
		s := markupSite(t, change)
		_, page := s.send(http.MethodGet, s.link, nil)
		require.Contains(t, page, "The image cannot be shown", name)
		resp, _ := s.send(http.MethodGet, s.link+"/image", nil)
		require.Equal(t, http.StatusNotFound, resp.StatusCode, name)
	}
}

// An image elsewhere is shown from hosts that the tool names, and is a link otherwise.
func TestMarkupOfAnAddress(t *testing.T) {
	t.Parallel()

	s := newSite(t, `{"title":"Where?","markup":{"image":"https://cdn.example.com/a.png"}}`)
	resp, page := s.send(http.MethodGet, s.link, nil)
	require.Contains(t, page, "image at cdn.example.com")
	require.NotContains(t, page, "<script")
	require.NotContains(t, resp.Header.Get("Content-Security-Policy"), "img-src")
	s.set(func(d *desk) { d.config = json.RawMessage(`{"image_hosts":["cdn.example.com"]}`) })
	resp, page = s.send(http.MethodGet, s.link, nil)
	require.Contains(t, page, `src="https://cdn.example.com/a.png"`)
	require.True(t, strings.HasSuffix(resp.Header.Get("Content-Security-Policy"), "; img-src https://cdn.example.com"))
}

// Without JavaScript a person describes regions, or sends an image with marks.
func TestMarkupWithoutScript(t *testing.T) {
	t.Parallel()

	s := markupSite(t, nil)
	for says, parts := range map[string][]part{
		"mark the image":          {{"notes", "", "hm"}},
		"from 0 to 100":           {{"region_1_x", "", "ten"}},
		"ends outside":            {{"region_1_x", "", "60"}, {"region_1_width", "", "50"}},
		"coordinates are from 0":  {{"markup", "", `{"shapes":[{"kind":"point","x":2,"y":0}]}`}},
		"expected shapes":         {{"markup", "", `{"shapes":[{"kind":"point","x":0,"y":0,"evil":1}]}`}},
		"100 are expected":        {{"markup", "", `{"shapes":[` + strings.Repeat(`{"kind":"point"},`, 100) + `{"kind":"point"}]}`}},
		"too much was drawn":      {{"markup", "", `{"shapes":[],"x":"` + strings.Repeat("x", 1<<20) + `"}`}},
		"say where it is":         {{"region_2_note", "", "here"}},
		"has more than 500":       {{"region_1_x", "", "1"}, {"region_1_note", "", strings.Repeat("x", 501)}},
		"expected image/png, ima": {{"image", "a.png", "hello"}},
	} {
		kind, body := multipartOf(t, parts...)
		resp, page := s.post(kind, body)
		require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode, says)
		require.Contains(t, page, says)
	}
	kind, body := multipartOf(t, part{"region_1_x", "", "10"}, part{"region_1_y", "", "20,5"},
		part{"region_1_width", "", "30"}, part{"region_1_height", "", "40"}, part{"region_1_note", "", "a crack"},
		part{"image", "m.png", string(pngOf(t, 4, 4))})
	resp, _ := s.post(kind, body)
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	var got struct {
		Answer struct {
			Markup input.Drawing
			Image  file.Reference
		}
	}
	require.NoError(t, json.Unmarshal(s.taken[0].Result, &got))
	require.Equal(t, []input.Shape{{Kind: input.Box, X: 0.1, Y: 0.205, Width: 0.3, Height: 0.4, Note: "a crack"}},
		got.Answer.Markup.Shapes)
	require.Equal(t, "m.png", got.Answer.Image.Name)
}

package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

func pngOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.String()
}

func seedFile(t *testing.T, b *bundle) v1.File {
	t.Helper()
	got := b.do(t, http.MethodPost, "/v1/files?name=theirs.txt", "hello")
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var made v1.File
	got.into(t, &made)
	return made
}

// asksForFile offers a call that asks a person for a photo.
func (b *bundle) asksForFile(t *testing.T) wait.Call {
	t.Helper()
	b.apply(t, `{"kind":"tool","slug":"askPhoto","description":"Asks for a photo.","implementation_type":"input",
		"version":"1.0.0","publish":true}`)
	head, err := b.Store.FindTool(t.Context(), b.tenant, tool.Ref{Slug: "askPhoto"})
	require.NoError(t, err)
	versions, err := b.Store.ListVersions(t.Context(), b.tenant, head.ID)
	require.NoError(t, err)
	return b.offersWith(t, tool.VersionIdentity{
		ToolID: head.ID, Slug: head.Slug, Version: "1.0.0", Digest: versions[0].Digest, Implementation: tool.Input,
	}, `{"title":"Photo","questions":[{"id":"photo","label":"Photo","type":"file","accept":["image/*"],"maxBytes":1000}]}`)
}

// A file is uploaded, found, downloaded as an attachment that no browser opens, and deleted.
func TestFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	content := pngOf(t, 4, 3)
	got := b.do(t, http.MethodPost, "/v1/files?name="+url.QueryEscape("../evil\r\nX: y\"<b>.html"), content)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var made v1.File
	got.into(t, &made)
	require.Equal(t, "/v1/files/"+made.ID, got.header.Get("Location"))
	require.Equal(t, "evilX_ y__b_.html.png", made.Name)
	require.Equal(t, "image/png", made.MediaType)
	require.Equal(t, 4, made.Width)
	require.Len(t, made.SHA256, 64)
	require.NotNil(t, made.ExpiresAt)

	down := b.do(t, http.MethodGet, "/v1/files/"+made.ID+"/content", "")
	require.Equal(t, content, string(down.body))
	for name, want := range map[string]string{
		"Content-Type": "image/png", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Content-Disposition": `attachment; filename="evilX_ y__b_.html.png"`,
	} {
		require.Equal(t, want, down.header.Get(name))
	}
	require.Contains(t, down.header.Get("Content-Security-Policy"), "sandbox")

	second := seedFile(t, b)
	var page v1.Page[v1.File]
	b.do(t, http.MethodGet, "/v1/files?limit=1", "").into(t, &page)
	require.Equal(t, second.ID, page.Items[0].ID)
	var rest v1.Page[v1.File]
	b.do(t, http.MethodGet, "/v1/files?limit=1&cursor="+page.Next, "").into(t, &rest)
	require.Equal(t, made.ID, rest.Items[0].ID)
	require.Empty(t, rest.Next)

	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, "/v1/files/"+made.ID, "").status)
	for _, path := range []string{"", "/content"} {
		require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/files/"+made.ID+path, "").status)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		files, err := file.New(file.Config{
			Store: c.Store, Contents: []file.Contents{c.Store.FileContents()}, MaxBytes: 2000, TenantBytes: 3000,
		})
		require.NoError(t, err)
		c.Files = files
	})
	for name, c := range map[string]struct {
		content string
		status  int
	}{
		"HTML": {"<!doctype html><script>alert(1)</script>", http.StatusUnprocessableEntity},
		"SVG":  {`<svg onload="alert(1)"/>`, http.StatusUnprocessableEntity}, "Empty": {"", http.StatusUnprocessableEntity},
		"Polyglot": {pngOf(t, 1, 1) + "<script>", http.StatusUnprocessableEntity},
		"Large":    {strings.Repeat("a", 2001), http.StatusRequestEntityTooLarge},
	} {
		got := b.do(t, http.MethodPost, "/v1/files?name=a.png", c.content)
		if name == "Empty" {
			require.GreaterOrEqual(t, got.status, http.StatusBadRequest, name)
			continue
		}
		require.Equal(t, c.status, got.status, name+string(got.body))
	}
	require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/files", strings.Repeat("a", 2000)).status)
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, "/v1/files", strings.Repeat("a", 2000)).status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodPost, "/v1/files?run="+file.Text, "a").status)
	reader, writer := b.Key(t, b.tenant, api.FilesRead), b.Key(t, b.tenant, api.FilesWrite)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/files", "a", reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodGet, "/v1/files", "", writer).status)
}

// A program uploads for a field of a request, with a key or the token of the call, and for nothing
// else; it reads no file with it.
func TestFilesOfRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked, other := b.asksForFile(t), b.asksPerson(t)
	photo := pngOf(t, 2, 2)
	path := "/v1/input-requests/" + asked.ID + "/files?name=a.png&field="
	submitter := b.Key(t, b.tenant, wait.SubmitPermission)
	var token struct {
		Token string `json:"token"`
	}
	b.do(t, http.MethodPost, "/v1/pending-tool-calls/"+asked.ID+"/token", "{}").into(t, &token)
	for _, key := range []string{submitter, token.Token} {
		require.Equal(t, http.StatusCreated, b.do(t, http.MethodPost, path+"photo", photo, key).status)
		require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, path+"other", photo, key).status)
		require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, path+"photo", "hello", key).status)
	}
	require.Equal(t, http.StatusNotFound,
		b.do(t, http.MethodPost, "/v1/input-requests/"+other.ID+"/files?field=seat", photo, token.Token).status)
	for _, key := range []string{submitter, token.Token} {
		require.GreaterOrEqual(t, b.do(t, http.MethodGet, "/v1/files", "", key).status, http.StatusUnauthorized)
	}
	foreign := seedFile(t, b)
	answer := func(id string) answer {
		return b.do(t, http.MethodPost, "/v1/pending-tool-calls/"+asked.ID+"/result",
			`{"result":{"photo":{"file_id":"`+id+`"}}}`, token.Token)
	}
	require.Equal(t, http.StatusUnprocessableEntity, answer(foreign.ID).status, "not sent to this request")
	var page v1.Page[v1.File]
	b.do(t, http.MethodGet, "/v1/runs/"+asked.RunID+"/files", "").into(t, &page)
	require.Len(t, page.Items, 2)
	require.Equal(t, http.StatusOK, answer(page.Items[0].ID).status)
	var shown v1.InputRequest
	b.do(t, http.MethodGet, "/v1/input-requests/"+asked.ID, "").into(t, &shown)
	var given struct{ Photo file.Reference }
	require.NoError(t, json.Unmarshal(shown.Answer, &given))
	require.Equal(t, page.Items[0].ID, given.Photo.FileID)
	require.Equal(t, page.Items[0].SHA256, given.Photo.SHA256)
	late := b.do(t, http.MethodPost, path+"photo", photo, submitter)
	require.Equal(t, http.StatusConflict, late.status, "it was answered")
	var after v1.Page[v1.File]
	b.do(t, http.MethodGet, "/v1/runs/"+asked.RunID+"/files", "").into(t, &after)
	require.Len(t, after.Items, 2)
	for _, f := range after.Items {
		require.Equal(t, f.ID == given.Photo.FileID, f.ExpiresAt == nil)
	}
}

// An upload whose connection is cut leaves nothing.
func TestUploadThatIsCut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	content := pngOf(t, 40, 30)
	at, err := url.Parse(b.url)
	require.NoError(t, err)
	for name, head := range map[string]string{
		"of a known length": fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(content), content[:len(content)-1]),
		"in chunks":         fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(content), content),
	} {
		dialed, err := net.Dial("tcp", at.Host)
		require.NoError(t, err, name)
		conn, ok := dialed.(*net.TCPConn)
		require.True(t, ok)
		_, err = fmt.Fprintf(conn, "POST /v1/files?name=cut.png HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s",
			at.Host, b.key, head)
		require.NoError(t, err, name)
		// The end of what is sent: the server answers, or hangs up, when it is through with the request.
		require.NoError(t, conn.CloseWrite(), name)
		said, _ := io.ReadAll(conn)
		require.NotContains(t, string(said), "201 Created", name)
		require.NoError(t, conn.Close(), name)
	}
	var left int
	require.NoError(t, b.Conn(t).QueryRow(t.Context(), `select (select count(*) from files) +
		(select count(*) from file_chunks) + (select count(*) from left_files)`).Scan(&left))
	require.Zero(t, left)
	got := b.do(t, http.MethodPost, "/v1/files?name=cut.png", content)
	require.Equal(t, http.StatusCreated, got.status, "the whole of it is accepted: "+string(got.body))
}

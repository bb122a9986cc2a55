package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// NewFile is a file to upload.
type NewFile struct {
	Name    string
	Run     string        // Id of the run whose artifact it is; empty for none.
	Expires time.Duration // While nothing uses it; the server's default when zero.
	Content []byte
}

// UploadFile uploads a file.
func (c *Client) UploadFile(ctx context.Context, f NewFile) (v1.File, error) {
	return c.upload(ctx, request{
		method: http.MethodPost, path: []string{"files"}, raw: f.Content,
		query: query("name", f.Name, "run", f.Run, "expires_s", int(f.Expires/time.Second)),
	})
}

// UploadInputFile uploads a file for a field of the answer to a request for input.
func (c *Client) UploadInputFile(ctx context.Context, view, field, name string, content []byte) (v1.File, error) {
	return c.upload(ctx, request{
		method: http.MethodPost, path: []string{"input-requests", view, "files"}, raw: content,
		query: query("field", field, "name", name),
	})
}

func (c *Client) upload(ctx context.Context, r request) (v1.File, error) {
	if r.raw == nil {
		r.raw = []byte{}
	}
	var out v1.File
	return out, c.do(ctx, r, &out)
}

// ListFiles returns a page of files, newest first; those of a run where that is not empty.
func (c *Client) ListFiles(ctx context.Context, run string, page Page) (v1.Page[v1.File], error) {
	return list[v1.File](ctx, c, page.query("run", run), "files")
}

// ListRunFiles returns a page of the files of a run, newest first.
func (c *Client) ListRunFiles(ctx context.Context, run string, page Page) (v1.Page[v1.File], error) {
	return list[v1.File](ctx, c, page.query(), "runs", run, "files")
}

// File returns a file, without its content.
func (c *Client) File(ctx context.Context, id string) (v1.File, error) {
	return get[v1.File](ctx, c, nil, "files", id)
}

// FileContent returns the content of a file, which has the digest of its record.
func (c *Client) FileContent(ctx context.Context, f v1.File) ([]byte, error) {
	got, err := c.send(ctx, request{method: http.MethodGet}, []string{"v1", "files", f.ID, "content"})
	if err != nil {
		return nil, err
	}
	if got.status >= http.StatusMultipleChoices {
		return nil, c.problem(got)
	}
	if sum := sha256.Sum256(got.body); hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "client", Sent: true,
			Msg: "the content of the file has another digest than its record",
		}
	}
	return got.body, nil
}

// DeleteFile deletes a file.
func (c *Client) DeleteFile(ctx context.Context, id string) (v1.File, error) {
	var out v1.File
	return out, c.do(ctx, request{method: http.MethodDelete, path: []string{"files", id}}, &out)
}

package inputpage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// form is what was sent, and what is wrong with it.
type form struct {
	token    string     // Of the link.
	values   url.Values // Of fields for files, the ids of those that are stored.
	attached input.Attached
	problems input.Problems
}

// maxParts bounds the parts of a form with files.
const maxParts = 300

// Errors of forms.
var (
	errMediaType = errors.New("the body is no form of this page")
	errTooLong   = errors.New("the form is too long")
	errUploads   = errors.New("too many files are being sent")
	errStore     = errors.New("storing a file failed")
)

func isMultipart(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == multipartType
}

// read reads a form. Files are stored as they come: those that no answer names are swept.
func (h *Handler) read(
	ctx context.Context, w http.ResponseWriter, r *http.Request, token string, call *wait.Call, spec *input.Spec,
) (*form, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && mediaType == formType:
		r.Body = publicpage.Body(w, r, maxForm)
		if err := r.ParseForm(); err != nil {
			return nil, fmt.Errorf("reading the form: %w", err)
		}
		return &form{values: r.PostForm}, nil
	case err != nil || mediaType != multipartType || h.cfg.Files == nil || !spec.TakesFiles():
		return nil, errMediaType
	}
	r.Body = publicpage.Body(w, r, h.most(spec))
	ending := &tail{ReadCloser: r.Body}
	r.Body = ending
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, fmt.Errorf("reading the form: %w", err)
	}
	f := &form{values: url.Values{}, problems: input.Problems{}}
	left := int64(maxForm)
	for range maxParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return f, ending.check(params["boundary"])
		}
		if err != nil {
			return nil, fmt.Errorf("reading the form: %w", err)
		}
		if at, ok := spec.FileField(part.FormName()); ok && part.FileName() != "" {
			if err := h.receive(ctx, f, &at, token, call, part); err != nil {
				return nil, err
			}
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, left+1))
		if err != nil {
			return nil, fmt.Errorf("reading the form: %w", err)
		}
		if left -= int64(len(value)); left < 0 {
			return nil, errTooLong
		}
		f.values.Add(part.FormName(), string(value))
	}
	return nil, errTooLong
}

// most is how many bytes a form with files may have.
func (h *Handler) most(spec *input.Spec) int64 {
	most := int64(maxForm)
	for _, f := range spec.Fields() {
		if f.Type == field.Upload {
			most += int64(input.MaxFiles(&f)+1) * h.bound(&f)
		}
	}
	return most
}

// bound is how large a file of a field may be.
func (h *Handler) bound(f *field.Field) int64 {
	if f.MaxBytes > 0 {
		return min(f.MaxBytes, h.cfg.Files.MaxBytes())
	}
	return h.cfg.Files.MaxBytes()
}

// receive stores a file of a field. What is wrong with the file is a problem of the field.
func (h *Handler) receive(
	ctx context.Context, f *form, at *field.Field, token string, call *wait.Call, part *multipart.Part,
) error {
	if len(f.values[at.Key]) >= input.MaxFiles(at) {
		f.problems[at.Key] = fmt.Sprintf("too many files: at most %d", input.MaxFiles(at))
		_, err := io.Copy(io.Discard, part)
		if err != nil {
			return fmt.Errorf("reading the form: %w", err)
		}
		return nil
	}
	if err := h.again(ctx, token); err != nil { // It may have been revoked while other files came.
		return err
	}
	stored, err := h.cfg.Files.Receive(ctx, file.Upload{
		Tenant: call.Principal.Tenant, Name: part.FileName(), RunID: call.RunID, RootRunID: call.RootRunID,
		CallID: call.ID, CreatedBy: subject + call.ID, Accept: at.Accept, MaxBytes: h.bound(at),
	}, part)
	switch e, ok := errors.AsType[*tool.Error](err); {
	case err == nil:
		f.values.Add(at.Key, stored.ID)
		return nil
	case !ok: // The body ended, or is too long.
		return fmt.Errorf("reading the form: %w", err)
	case e.Kind == tool.Invalid || e.Kind == tool.Conflict:
		f.problems[at.Key] = e.Msg
		return nil
	case e.Kind == tool.Unavailable && e.Op == "file.Receive":
		return errUploads
	default:
		return fmt.Errorf("%w: %w", errStore, err)
	}
}

// attached returns the files that were sent to a request.
func (h *Handler) attached(ctx context.Context, call *wait.Call, spec *input.Spec) (input.Attached, error) {
	if h.cfg.Files == nil || !spec.TakesFiles() {
		return nil, nil
	}
	sent, err := h.cfg.Files.OfCall(ctx, call.Principal.Tenant, call.ID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStore, err)
	}
	return input.Attach(sent), nil
}

// merged returns the problems of both; those of files as they came are more exact.
func merged(problems, files input.Problems) input.Problems {
	if len(files) == 0 {
		return problems
	}
	out := maps.Clone(problems)
	if out == nil {
		out = input.Problems{}
	}
	maps.Copy(out, files)
	return out
}

// tail remembers the end of a body: the reader of forms takes one that breaks off between two parts
// for a whole one.
type tail struct {
	io.ReadCloser
	end []byte
}

const maxTail = 512

// Read implements [io.Reader].
func (t *tail) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.end = append(t.end, p[:n]...)
	if len(t.end) > maxTail {
		t.end = append(t.end[:0], t.end[len(t.end)-maxTail:]...)
	}
	return n, err //nolint:wrapcheck // It is the body's.
}

// check fails unless the body ended with the last boundary.
func (t *tail) check(boundary string) error {
	if !bytes.Contains(t.end, []byte("--"+boundary+"--")) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

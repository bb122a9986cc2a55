package api

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// rawType is the media type of a body that is the content of a file, in the description. A request
// may have any.
const rawType = "application/octet-stream"

type fileInput struct {
	ID string `path:"file" maxLength:"64" example:"01975c2e-7d1a-7c3e-9f00-0000000000f1"`
}

type uploadFileInput struct {
	Name     string `query:"name" maxLength:"500" doc:"Name of the file; its extension says nothing of what it is" example:"floor-plan.png"`
	Run      string `query:"run" maxLength:"64" doc:"Id of the run whose artifact it is: it is kept as long as the run"`
	ExpiresS int    `query:"expires_s" minimum:"60" maximum:"31536000" doc:"For how long it is kept while nothing uses it; a day when absent"`
	RawBody  []byte `contentType:"application/octet-stream"`
}

type uploadInputFileInput struct {
	ID      string `path:"view" maxLength:"64"`
	Field   string `query:"field" required:"true" maxLength:"64" doc:"Key of the field that it is for" example:"photo"`
	Name    string `query:"name" maxLength:"500" doc:"Name of the file" example:"floor-plan.png"`
	RawBody []byte `contentType:"application/octet-stream"`
}

type listFilesInput struct {
	Run string `query:"run" maxLength:"64" doc:"Id of the run, or of the outermost run, whose artifacts they are"`
	Paging
}

type listRunFilesInput struct {
	ID string `path:"id" maxLength:"64"`
	Paging
}

type uploadFileOutput struct {
	Location string `header:"Location"`
	Body     v1.File
}

type fileContentOutput struct {
	ContentType  string `header:"Content-Type"`
	Length       string `header:"Content-Length"`
	Disposition  string `header:"Content-Disposition" doc:"attachment, with the name of the file"`
	CacheControl string `header:"Cache-Control"`
	Policy       string `header:"Content-Security-Policy"`
	Options      string `header:"X-Content-Type-Options"`
	Referrer     string `header:"Referrer-Policy"`
	Resource     string `header:"Cross-Origin-Resource-Policy"`
	Body         func(huma.Context)
}

func (s *server) registerFiles() {
	handle(s, route{
		id: "uploadFile", method: http.MethodPost, path: "/v1/files", tag: "files", permission: FilesWrite,
		status: http.StatusCreated, maxBody: s.files.MaxBytes(), summary: "Upload a file",
		detail: "The body is the content of the file, and decides what it is: an image (PNG, JPEG, GIF, WebP), a PDF, " +
			"a text, CSV, JSON, DOCX or XLSX. Anything else is refused, and so are HTML, SVG and documents with macros. A " +
			"file that nothing uses is deleted after a time.",
	}, s.uploadFile)
	handle(s, route{
		id: "listFiles", method: http.MethodGet, path: "/v1/files", tag: "files", permission: FilesRead,
		summary: "List files, newest first", detail: "Without their contents.",
	}, s.listFiles)
	handle(s, route{
		id: "listRunFiles", method: http.MethodGet, path: "/v1/runs/{id}/files", tag: "files", permission: FilesRead,
		summary: "List the files of a run, newest first",
		detail:  "Those of the runs that it made too. What people sent with their answers, and what they drew.",
	}, s.listRunFiles)
	handle(s, route{
		id: "getFile", method: http.MethodGet, path: "/v1/files/{file}", tag: "files", permission: FilesRead,
		summary: "Get a file", detail: "Without its content.",
	}, s.getFile)
	handle(s, route{
		id: "getFileContent", method: http.MethodGet, path: "/v1/files/{file}/content", tag: "files", permission: FilesRead,
		summary: "Download a file",
		detail: "As an attachment that no browser shows as a page. An answer that is shorter than its Content-Length broke " +
			"off: the content could not be read, or is not the one that was stored.",
	}, s.getFileContent)
	handle(s, route{
		id: "deleteFile", method: http.MethodDelete, path: "/v1/files/{file}", tag: "files", permission: FilesWrite,
		summary: "Delete a file, at once and permanently",
		detail:  "Answers that name it keep its name and digest.",
	}, s.deleteFile)
	handle(s, route{
		id: "uploadInputFile", method: http.MethodPost, path: "/v1/input-requests/{view}/files", tag: "files",
		permission: ResultsSubmit, token: true, status: http.StatusCreated, maxBody: s.files.MaxBytes(),
		summary: "Upload a file for the answer to a request for input",
		detail: "The answer then names it by its id, as `{\"file_id\": …}` in the field. A file that no answer names is " +
			"deleted after a day. Also for the token of the request's call.",
	}, s.uploadInputFile)
	s.describeContent()
	for _, path := range []string{"/v1/files", "/v1/input-requests/{view}/files"} {
		s.api.OpenAPI().Paths[path].Post.RequestBody.Content[rawType].Example = "Dear Ada, …"
	}
}

// describeContent describes the answer that is the content of a file.
func (s *server) describeContent() {
	ok := s.api.OpenAPI().Paths["/v1/files/{file}/content"].Get.Responses["200"]
	ok.Content = map[string]*huma.MediaType{}
	for _, media := range append(file.MediaTypes(), rawType) {
		ok.Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
}

func (s *server) uploadFile(ctx context.Context, p tool.Principal, in *uploadFileInput) (*uploadFileOutput, error) {
	u := file.Upload{
		Tenant: p.Tenant, Name: in.Name, CreatedBy: p.Subject, Unused: time.Duration(in.ExpiresS) * time.Second,
	}
	if in.Run != "" {
		run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.Run)
		if err != nil {
			return nil, err
		}
		u.RunID, u.Unused = run.ID, -1
	}
	return s.upload(ctx, u, in.RawBody)
}

func (s *server) upload(ctx context.Context, u file.Upload, content []byte) (*uploadFileOutput, error) {
	stored, err := s.files.Upload(ctx, u, content)
	if err != nil {
		return nil, err
	}
	return &uploadFileOutput{Location: "/v1/files/" + stored.ID, Body: v1.FromFile(stored)}, nil
}

func (s *server) uploadInputFile(
	ctx context.Context, p tool.Principal, in *uploadInputFileInput,
) (*uploadFileOutput, error) {
	found, err := s.findInput(ctx, p, in.ID)
	if err == nil {
		err = mayAnswer(p, found.ID)
	}
	if err != nil {
		return nil, err
	}
	if !found.Status.Open() {
		return nil, &tool.Error{
			Kind: tool.Conflict, Op: "api.uploadInputFile", Msg: "the request takes no answer: it is " + string(found.Status),
		}
	}
	spec, err := input.Read(found.Arguments)
	if err != nil {
		return nil, err
	}
	f, ok := spec.FileField(in.Field)
	if !ok {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "api.uploadInputFile", Path: "field", Msg: "the form has no such field for files",
		}
	}
	return s.upload(ctx, file.Upload{
		Tenant: p.Tenant, Name: in.Name, RunID: found.RunID, RootRunID: found.RootRunID, CallID: found.ID,
		CreatedBy: p.Subject, Accept: f.Accept, MaxBytes: f.MaxBytes,
	}, in.RawBody)
}

func (s *server) listFiles(ctx context.Context, p tool.Principal, in *listFilesInput) (*listed[v1.File], error) {
	q := file.Query{Tenant: p.Tenant}
	if in.Run != "" {
		run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.Run)
		if err != nil {
			return nil, err
		}
		q.RunID = run.ID
	}
	return s.filePage(ctx, q, in.Paging)
}

func (s *server) listRunFiles(ctx context.Context, p tool.Principal, in *listRunFilesInput) (*listed[v1.File], error) {
	run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return s.filePage(ctx, file.Query{Tenant: p.Tenant, RunID: run.ID}, in.Paging)
}

func (s *server) filePage(ctx context.Context, q file.Query, in Paging) (*listed[v1.File], error) {
	var err error
	if q.Before, err = in.before(); err != nil {
		return nil, err
	}
	q.Limit = in.fetch()
	found, err := s.files.List(ctx, q)
	if err != nil {
		return nil, err
	}
	return answer(page(in, found, v1.FromFile, func(f file.File) string { return f.ID })), nil
}

func (s *server) getFile(ctx context.Context, p tool.Principal, in *fileInput) (*body[v1.File], error) {
	found, err := s.files.Find(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromFile(found)), nil
}

func (s *server) getFileContent(ctx context.Context, p tool.Principal, in *fileInput) (*fileContentOutput, error) {
	found, content, err := s.files.Open(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return &fileContentOutput{
		ContentType: found.MediaType, Length: strconv.FormatInt(found.Size, 10),
		Disposition:  mime.FormatMediaType("attachment", map[string]string{"filename": found.Name}),
		CacheControl: "no-store", Policy: "sandbox; default-src 'none'", Options: "nosniff", Referrer: "no-referrer",
		Resource: "same-origin",
		Body: func(ctx huma.Context) {
			defer func() { _ = content.Close() }()
			_, _ = io.Copy(ctx.BodyWriter(), content) // What is missing says that it broke off.
		},
	}, nil
}

func (s *server) deleteFile(ctx context.Context, p tool.Principal, in *fileInput) (*body[v1.File], error) {
	found, err := s.files.Find(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.files.Delete(ctx, p.Tenant, found.ID); err != nil {
		return nil, err
	}
	return answer(v1.FromFile(found)), nil
}

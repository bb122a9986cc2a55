package runs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// answered reads the answer to a request for input by the form of the request, whether it was sent
// from the page or by a program. What was drawn is stored as a file of the run.
func (s *Service) answered(ctx context.Context, called *wait.Call, sub Submission) (wait.Submission, error) {
	asked, err := input.Read(called.Arguments)
	if err != nil {
		return wait.Submission{}, fmt.Errorf("reading what was asked: %w", err)
	}
	var attached input.Attached
	if s.cfg.Files != nil && asked.TakesFiles() {
		sent, err := s.cfg.Files.OfCall(ctx, called.Principal.Tenant, called.ID)
		if err != nil {
			return wait.Submission{}, fmt.Errorf("finding the files of the request: %w", err)
		}
		attached = input.Attach(sent)
	}
	answer, err := asked.ReadResult(called.ID, sub.Result, attached)
	if err != nil {
		e := tool.AsError(err)
		return wait.Submission{}, invalidResult("/result"+e.Path, e.Msg)
	}
	out := wait.Submission{Files: answer.Files}
	var drawing *file.Reference
	if answer.Drawing != nil && s.cfg.Files != nil {
		stored, err := s.storeDrawing(ctx, called, asked.Markup, answer.Drawing, sub.Principal.Subject)
		if err != nil {
			return wait.Submission{}, err
		}
		ref := stored.Reference()
		drawing, out.Files = &ref, append(out.Files, stored.ID)
	}
	packet, err := answer.Result(called.ID, drawing)
	if err != nil {
		return wait.Submission{}, fmt.Errorf("writing the answer: %w", err)
	}
	if len(packet) > MaxResultBytes {
		return wait.Submission{}, invalidResult("/result", fmt.Sprintf("the answer has more than %d bytes", MaxResultBytes))
	}
	out.Result, err = wait.ReadResult(packet)
	return out, err //nolint:wrapcheck // It is JSON of ours.
}

// markupName is the name of the file of what was drawn.
const markupName = "markup.json"

// storeDrawing stores what was drawn on an image. It expires like any file, unless the answer that
// names it is taken.
func (s *Service) storeDrawing(
	ctx context.Context, called *wait.Call, asked *input.Markup, drawn *input.Drawing, subject string,
) (file.File, error) {
	content, err := json.Marshal(struct {
		Version int           `json:"version"`
		Image   string        `json:"image"` // The id of a file, or an address.
		Shapes  []input.Shape `json:"shapes"`
	}{1, asked.Image, drawn.Shapes})
	if err != nil {
		return file.File{}, fmt.Errorf("writing what was drawn: %w", err)
	}
	stored, err := s.cfg.Files.Upload(ctx, file.Upload{
		Tenant: called.Principal.Tenant, Name: markupName, Kind: file.Markup, RunID: called.RunID,
		RootRunID: called.RootRunID, CallID: called.ID, CreatedBy: subject,
	}, content)
	if err != nil {
		return file.File{}, fmt.Errorf("storing what was drawn: %w", err)
	}
	return stored, nil
}

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// PipelinePath names the pipeline of a path. It is exported as [Paging] is.
type PipelinePath struct {
	Pipeline string `path:"pipeline" maxLength:"64" doc:"Slug or id" example:"handbook"`
}

type createPipelineOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.Pipeline
}

type pipelineInput struct {
	PipelinePath
}

type changePipelineInput struct {
	PipelinePath
	Changing
	Body v1.PipelineChange
}

type deletePipelineInput struct {
	PipelinePath
	Changing
}

type reembedInput struct {
	PipelinePath
	Changing
	Body v1.Reembed
}

type pipelineOutput struct {
	Etag string `header:"Etag" doc:"Names this state of the pipeline, for If-Match"`
	Body v1.Pipeline
}

type searchPipelineInput struct {
	PipelinePath
	Body v1.PipelineQuery
}

func (s *server) registerPipelines() {
	handle(s, route{
		id: "createPipeline", method: http.MethodPost, path: "/v1/pipelines", tag: "pipelines", permission: PipelinesWrite,
		status:  http.StatusCreated,
		summary: "Create a pipeline",
		detail: "A collection of documents that rag_retrieval tools search. Full-text search needs nothing else; " +
			"vector search needs an embedding model. A slug that the tenant already has is a conflict.",
	}, s.createPipeline)
	handle(s, route{
		id: "listPipelines", method: http.MethodGet, path: "/v1/pipelines", tag: "pipelines", permission: PipelinesRead,
		summary: "List pipelines, in the order of slugs",
		detail:  "Only the response for a single pipeline has the number of documents.",
	}, s.listPipelines)
	handle(s, route{
		id: "getPipeline", method: http.MethodGet, path: "/v1/pipelines/{pipeline}", tag: "pipelines",
		permission: PipelinesRead,
		summary:    "Get a pipeline",
		detail:     "With the number of its documents, and the progress of re-embedding.",
	}, s.getPipeline)
	handle(s, route{
		id: "updatePipeline", method: http.MethodPatch, path: "/v1/pipelines/{pipeline}", tag: "pipelines",
		permission: PipelinesWrite,
		summary:    "Change a pipeline",
		detail: "Absent fields are left unchanged. The slug cannot change, nor the language while there are documents; " +
			"re-embedding changes the embedding model.",
	}, s.updatePipeline)
	handle(s, route{
		id: "deletePipeline", method: http.MethodDelete, path: "/v1/pipelines/{pipeline}", tag: "pipelines",
		permission: PipelinesWrite,
		summary:    "Delete a pipeline and its documents, permanently",
		detail: "Tools that search it fail from then on; those that name it by its slug, until another pipeline " +
			"takes that.",
	}, s.deletePipeline)
	handle(s, route{
		id: "searchPipeline", method: http.MethodPost, path: "/v1/pipelines/{pipeline}/search", tag: "pipelines",
		permission: PipelinesRead,
		summary:    "Search a pipeline",
		detail: "Returns what a rag_retrieval tool would find, with a citation of each passage. Only this " +
			"endpoint has exclude, not the tools.",
	}, s.searchPipeline)
	handle(s, route{
		id: "reembedPipeline", method: http.MethodPost, path: "/v1/pipelines/{pipeline}/reembed", tag: "pipelines",
		permission: PipelinesWrite,
		status:     http.StatusAccepted,
		summary:    "Embed a pipeline's passages with another model",
		detail: "The old embeddings are searched until all passages have new ones; then the pipeline switches over. " +
			"This also sets the first model of a pipeline. Requested again meanwhile, the newest model wins. If a " +
			"passage cannot be embedded, the pipeline is left unchanged.",
	}, s.reembedPipeline)
	s.registerDocuments()
}

func (s *server) createPipeline(
	ctx context.Context, p tool.Principal, in *body[v1.NewPipeline],
) (*createPipelineOutput, error) {
	wanted := in.Body.Pipeline()
	wanted.Tenant, wanted.CreatedBy = p.Tenant, p.Subject
	if err := wanted.Check(); err != nil {
		return nil, fmt.Errorf("checking the pipeline: %w", err)
	}
	made, err := s.cfg.Retrieval.CreatePipeline(ctx, wanted)
	if err != nil {
		return nil, fmt.Errorf("creating pipeline %q: %w", wanted.Slug, err)
	}
	shown := showPipeline(made)
	return &createPipelineOutput{Location: "/v1/pipelines/" + made.Slug, Etag: shown.Etag, Body: shown.Body}, nil
}

// showPipeline returns a pipeline as the API shows it.
func showPipeline(p retrieval.Pipeline) *pipelineOutput {
	out := &pipelineOutput{Etag: etag(p.ID, p.Revision), Body: v1.FromPipeline(p)}
	out.Body.Documents = &p.Documents
	return out
}

func (s *server) listPipelines(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.Pipeline], error) {
	after, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Retrieval.ListPipelines(ctx, p.Tenant, after, in.fetch())
	if err != nil {
		return nil, fmt.Errorf("listing pipelines: %w", err)
	}
	return answer(page(*in, found, v1.FromPipeline, func(p retrieval.Pipeline) string { return p.Slug })), nil
}

func (s *server) getPipeline(ctx context.Context, p tool.Principal, in *pipelineInput) (*pipelineOutput, error) {
	found, err := s.cfg.Retrieval.FindPipeline(ctx, p.Tenant, in.Pipeline)
	if err != nil {
		return nil, err
	}
	if looked, err := s.records.Pipeline(ctx, found); err == nil { // Without Temporal, the stored record is shown.
		found = looked
	}
	out := showPipeline(found)
	if out.Body.Reembedding == nil {
		return out, nil
	}
	ref := retrieval.GenerationRef{Tenant: p.Tenant, Pipeline: found.ID, Generation: found.NextGeneration}
	_, left, err := s.cfg.Retrieval.PendingGeneration(ctx, ref, 1)
	switch {
	case errors.Is(err, retrieval.ErrGeneration): // It was finished, or abandoned, since the pipeline was read.
		if found, err = s.cfg.Retrieval.FindPipeline(ctx, p.Tenant, found.ID); err != nil {
			return nil, err
		}
		return showPipeline(found), nil
	case err != nil:
		return nil, fmt.Errorf("counting the passages to embed: %w", err)
	}
	out.Body.Reembedding.Left = &left
	return out, nil
}

func (s *server) updatePipeline(
	ctx context.Context, p tool.Principal, in *changePipelineInput,
) (*pipelineOutput, error) {
	found, err := s.changingPipeline(ctx, p, in.Pipeline, in.Changing)
	if err != nil {
		return nil, err
	}
	wanted := in.Body.Apply(found)
	if err := wanted.Check(); err != nil {
		return nil, fmt.Errorf("checking the pipeline: %w", err)
	}
	saved, err := s.cfg.Retrieval.UpdatePipeline(ctx, wanted)
	if err != nil {
		return nil, in.outrun(err)
	}
	saved.Documents = found.Documents
	return showPipeline(saved), nil
}

// changingPipeline returns a pipeline to be changed under a condition. A
// concurrent change between this read of it and its change is refused too.
func (s *server) changingPipeline(
	ctx context.Context, p tool.Principal, name string, c Changing,
) (retrieval.Pipeline, error) {
	found, err := s.cfg.Retrieval.FindPipeline(ctx, p.Tenant, name)
	if err != nil {
		return retrieval.Pipeline{}, err
	}
	if c.IfMatch != "" && !names(c.IfMatch, etag(found.ID, found.Revision), false) {
		return retrieval.Pipeline{}, preconditionFailed()
	}
	return found, nil
}

// outrun returns the error of a failed change of a pipeline.
func (c Changing) outrun(err error) error {
	if c.IfMatch != "" && errors.Is(err, retrieval.ErrChanged) {
		return preconditionFailed()
	}
	return err
}

func (s *server) deletePipeline(
	ctx context.Context, p tool.Principal, in *deletePipelineInput,
) (*pipelineOutput, error) {
	found, err := s.changingPipeline(ctx, p, in.Pipeline, in.Changing)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Retrieval.DeletePipeline(ctx, found); err != nil {
		return nil, in.outrun(err)
	}
	return showPipeline(found), nil
}

func (s *server) searchPipeline(
	ctx context.Context, p tool.Principal, in *searchPipelineInput,
) (*body[v1.PipelineAnswer], error) {
	filter, err := retrieval.ParseFilter("/filter", in.Body.Filter)
	if err != nil {
		return nil, fmt.Errorf("reading the filter: %w", err)
	}
	text, exclude := retrieval.CutExclusions(in.Body.Query)
	found, err := s.cfg.Searcher.Search(ctx, p.Tenant, in.Pipeline, retrieval.Query{
		Text: text, Exclude: slices.Concat(in.Body.Exclude, exclude), Limit: in.Body.Limit, Mode: in.Body.Mode,
		Filter: filter, MinScore: in.Body.MinScore,
	})
	if err != nil {
		return nil, fmt.Errorf("searching pipeline %q: %w", in.Pipeline, err)
	}
	return answer(v1.FromAnswer(found)), nil
}

package api

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// applyOne applies a definition, or reports the changes it would make.
func (b *batch) applyOne(ctx context.Context, d definition.Definition, write bool) (definition.Change, error) {
	s, p := b.server, b.principal
	switch {
	case d.Pipeline != nil:
		return s.applyPipeline(ctx, p, d.Pipeline, write)
	case d.Profile != nil:
		return s.applyProfile(ctx, p, d.Profile, write)
	case d.Toolset != nil:
		return s.applyToolset(ctx, p, d.Toolset, write)
	}
	in := s.cfg.Registry
	removed := b.set.removed(d)
	if removed != "" {
		in = in.Reviving(removed)
	}
	if !write {
		return in.Check(ctx, p, d)
	}
	c, err := in.Apply(ctx, p, d)
	if err == nil && d.Artifact != nil && d.Artifact.Status == "" && removed != "" {
		err = s.reviveArtifact(ctx, p, removed)
	}
	return c, err
}

// reviveArtifact ends the deprecation that taking an artifact away was. One that was disabled since stays so.
func (s *server) reviveArtifact(ctx context.Context, p tool.Principal, id string) error {
	held, err := s.cfg.Registry.Artifacts().Get(ctx, p, id)
	if err != nil || held.Status != definition.ArtifactDeprecated {
		return err
	}
	_, err = s.cfg.Registry.Artifacts().SetStatus(ctx, p, id, definition.ArtifactActive)
	return err
}

// applyPipeline changes a pipeline to its definition. For another embedding
// model it starts a new generation, which is searched once it is complete.
func (s *server) applyPipeline(
	ctx context.Context, p tool.Principal, spec *definition.PipelineSpec, write bool,
) (definition.Change, error) {
	if !p.May(PipelinesWrite) {
		return definition.Change{}, &tool.Error{
			Kind: tool.Denied, Op: "api.apply", Msg: fmt.Sprintf("the caller lacks the permission %q", PipelinesWrite),
		}
	}
	before, err := s.cfg.Retrieval.FindPipeline(ctx, p.Tenant, spec.Slug)
	create := err != nil && tool.KindOf(err) == tool.NotFound
	switch {
	case create:
		before = retrieval.Pipeline{Tenant: p.Tenant, CreatedBy: p.Subject}
	case err != nil:
		return definition.Change{}, fmt.Errorf("finding pipeline %q: %w", spec.Slug, err)
	case before.Slug != spec.Slug: // It was found by its id.
		return definition.Change{}, &tool.Error{
			Kind: tool.Invalid, Op: "api.apply", Path: "/slug", Msg: "want the slug of the pipeline, not its id",
		}
	}
	after, reembed, err := spec.Edited(before)
	if err != nil {
		return definition.Change{}, fmt.Errorf("checking pipeline %q: %w", spec.Slug, err)
	}
	c := definition.Change{Kind: "pipeline", Slug: spec.Slug, ID: before.ID, Action: definition.Created}
	edited := !reflect.DeepEqual(settings(before), settings(after))
	switch {
	case create:
	case edited && after.Language != before.Language && before.Documents > 0:
		return definition.Change{}, &tool.Error{Kind: tool.Conflict, Op: "api.apply", Path: "/language", Msg: fmt.Sprintf(
			"pipeline %q has documents indexed in %s: create another pipeline for %s", before.Slug,
			before.Language, after.Language)}
	case edited || reembed:
		c.Action = definition.Updated
	default:
		c.Action = definition.Unchanged
	}
	if reembed {
		c.Warnings = []string{
			"its passages are being embedded by " + after.NextEmbedding.Model + "; search uses it once all of them are",
		}
	}
	if !write || c.Action == definition.Unchanged {
		return c, nil
	}
	if create {
		made, err := s.cfg.Retrieval.CreatePipeline(ctx, after)
		c.ID = made.ID
		return c, err
	}
	begun := after // The generation starts before searches may use it, and is built afterwards.
	if reembed {
		if begun, err = s.beginGeneration(ctx, before, *after.NextEmbedding); err != nil {
			return c, err
		}
		after.Revision = begun.Revision
	}
	if edited {
		if _, err = s.cfg.Retrieval.UpdatePipeline(ctx, after); err != nil {
			err = fmt.Errorf("updating pipeline %q: %w", spec.Slug, err)
		}
	}
	if reembed {
		err = errors.Join(err, s.buildGeneration(ctx, begun))
	}
	return c, err
}

// settings returns the settings of a pipeline in a definition, except its models.
func settings(p retrieval.Pipeline) retrieval.Pipeline {
	return retrieval.Pipeline{
		Slug: p.Slug, Name: p.Name, Description: p.Description, Search: p.Search, Language: p.Language, Chunking: p.Chunking,
		Disabled: p.Disabled,
	}
}

// beginGeneration starts a new generation of a pipeline, with the given model.
func (s *server) beginGeneration(
	ctx context.Context, p retrieval.Pipeline, config retrieval.EmbeddingConfig,
) (retrieval.Pipeline, error) {
	if err := s.runs.Available(ctx); err != nil { // The pipeline would wait for it.
		return retrieval.Pipeline{}, err
	}
	return s.cfg.Retrieval.BeginGeneration(ctx, p, config)
}

// buildGeneration starts the workflow that embeds the searchable documents in
// the new generation.
func (s *server) buildGeneration(ctx context.Context, begun retrieval.Pipeline) error {
	id, input := wire.NewReembed(begun.Tenant, begun.ID, begun.NextGeneration)
	start := agent.Start{
		Tenant: begun.Tenant, WorkflowID: id, Workflow: wire.ReembedWorkflow, Summary: "re-embed " + begun.Slug,
	}
	return s.begin(ctx, start, input)
}

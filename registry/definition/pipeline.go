package definition

import (
	"reflect"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/retrieval"
)

// PipelineSpec is the desired state of a retrieval pipeline. Absent fields take
// the defaults of a new pipeline, except for Embedding and Disabled, which are left
// unchanged.
type PipelineSpec struct {
	Slug        string                     `json:"slug"`
	Name        string                     `json:"name,omitempty"` // The slug when empty.
	Description string                     `json:"description,omitempty"`
	Search      retrieval.Mode             `json:"search,omitempty"`
	Language    retrieval.Language         `json:"language,omitempty"`
	Chunking    retrieval.Chunking         `json:"chunking,omitzero"`
	Embedding   *retrieval.EmbeddingConfig `json:"embedding,omitempty"`
	Disabled    *bool                      `json:"disabled,omitempty"`
}

func parsePipeline(doc object) (*PipelineSpec, error) {
	doc.drop(rowFields...)
	if doc["slug"] == nil && doc["name"] != nil {
		doc["slug"] = doc["name"]
	}
	if err := refusal.First(doc.nested("chunking"), doc.nested("embedding")); err != nil {
		return nil, err
	}
	var s PipelineSpec
	return &s, doc.into("", &s)
}

// Edited returns p with the fields of the spec, and reports whether its passages
// must be embedded again by another model. A pipeline without an id is new. It
// fails as [retrieval.Pipeline.Check] does.
func (s *PipelineSpec) Edited(p retrieval.Pipeline) (after retrieval.Pipeline, reembed bool, err error) {
	after = p
	after.Slug, after.Name, after.Description, after.Search = s.Slug, s.Name, s.Description, s.Search
	after.Language, after.Chunking = s.Language, s.Chunking
	if s.Disabled != nil {
		after.Disabled = *s.Disabled
	}
	if s.Embedding != nil {
		if err := s.Embedding.Check("/embedding"); err != nil {
			return p, false, err
		}
		wanted := *s.Embedding
		if p.ID == "" || reflect.DeepEqual(p.Embedding, &wanted) {
			after.Embedding = &wanted
		} else {
			after.NextEmbedding = &wanted
			reembed = !reflect.DeepEqual(p.NextEmbedding, &wanted)
		}
	}
	if err := after.Check(); err != nil {
		return p, false, err
	}
	if after.Chunking.Resolved() == p.Chunking.Resolved() {
		after.Chunking = p.Chunking
	}
	return after, reembed, nil
}

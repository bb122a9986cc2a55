package client

import (
	"context"
	"net/http"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// CreatePipeline creates a pipeline.
func (c *Client) CreatePipeline(ctx context.Context, in v1.NewPipeline) (v1.Pipeline, error) {
	return post[v1.Pipeline](ctx, c, in, "pipelines")
}

// ListPipelines returns a page of pipelines in the order of slugs.
func (c *Client) ListPipelines(ctx context.Context, page Page) (v1.Page[v1.Pipeline], error) {
	return list[v1.Pipeline](ctx, c, page.query(), "pipelines")
}

// Pipeline returns a pipeline by slug or id.
func (c *Client) Pipeline(ctx context.Context, name string) (v1.Pipeline, error) {
	return get[v1.Pipeline](ctx, c, nil, "pipelines", name)
}

// UpdatePipeline changes what in names of a pipeline.
func (c *Client) UpdatePipeline(ctx context.Context, name string, in v1.PipelineChange) (v1.Pipeline, error) {
	return call[v1.Pipeline](ctx, c, http.MethodPatch, nil, in, "pipelines", name)
}

// DeletePipeline deletes a pipeline and its documents irreversibly.
func (c *Client) DeletePipeline(ctx context.Context, name string) (v1.Pipeline, error) {
	return remove[v1.Pipeline](ctx, c, "pipelines", name)
}

// SearchPipeline asks a pipeline.
func (c *Client) SearchPipeline(ctx context.Context, name string, in v1.PipelineQuery) (v1.PipelineAnswer, error) {
	return post[v1.PipelineAnswer](ctx, c, in, "pipelines", name, "search")
}

// ReembedPipeline has a pipeline's passages embedded by another model.
func (c *Client) ReembedPipeline(ctx context.Context, name string, in v1.EmbeddingConfig) (v1.Pipeline, error) {
	return post[v1.Pipeline](ctx, c, v1.Reembed{Embedding: in}, "pipelines", name, "reembed")
}

// AddDocument adds a document to a pipeline, or replaces the one of its key.
// The document that comes back may not be searched yet: see its status.
func (c *Client) AddDocument(ctx context.Context, pipeline string, in v1.NewDocument) (v1.Document, error) {
	return post[v1.Document](ctx, c, in, "pipelines", pipeline, "documents")
}

// ListDocuments returns a page of a pipeline's documents in the order of keys;
// status filters, unless it is empty.
func (c *Client) ListDocuments(
	ctx context.Context, pipeline string, status retrieval.DocumentStatus, page Page,
) (v1.Page[v1.Document], error) {
	return list[v1.Document](ctx, c, page.query("status", status), "pipelines", pipeline, "documents")
}

// Document returns a document of a pipeline by id or key.
func (c *Client) Document(ctx context.Context, pipeline, name string) (v1.Document, error) {
	if strings.ContainsAny(name, "/%") { // No path has such a key.
		return c.documentByKey(ctx, pipeline, name)
	}
	return get[v1.Document](ctx, c, nil, "pipelines", pipeline, "documents", name)
}

func (c *Client) documentByKey(ctx context.Context, pipeline, key string) (v1.Document, error) {
	found, err := items[v1.Document](ctx, c, query("key", key), "pipelines", pipeline, "documents")
	if err != nil {
		return v1.Document{}, err
	}
	if len(found) == 0 {
		return v1.Document{}, &tool.Error{Kind: tool.NotFound, Op: "client.Document", Msg: "there is no such document"}
	}
	return found[0], nil
}

// DocumentText returns the text of a document of a pipeline, by its id, from an
// offset in bytes to another; 0 stands for its end.
func (c *Client) DocumentText(ctx context.Context, pipeline, id string, start, end int) (v1.DocumentText, error) {
	return get[v1.DocumentText](ctx, c, query("start", start, "end", end), "pipelines", pipeline, "documents", id, "text")
}

// DeleteDocument deletes a document of a pipeline by id or key.
func (c *Client) DeleteDocument(ctx context.Context, pipeline, name string) (v1.Document, error) {
	if strings.ContainsAny(name, "/%") {
		found, err := c.documentByKey(ctx, pipeline, name)
		if err != nil {
			return v1.Document{}, err
		}
		name = found.ID
	}
	return remove[v1.Document](ctx, c, "pipelines", pipeline, "documents", name)
}

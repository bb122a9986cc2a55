package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// CreatePipeline creates a pipeline.
func (c *Client) CreatePipeline(ctx context.Context, in v1.NewPipeline) (v1.Pipeline, error) {
	var out v1.Pipeline
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"pipelines"}, body: in, out: &out})
	return out, err
}

// ListPipelines returns a page of pipelines in the order of slugs.
func (c *Client) ListPipelines(ctx context.Context, page Page) (v1.Page[v1.Pipeline], error) {
	var out v1.Page[v1.Pipeline]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"pipelines"}, query: params{}.page(page), out: &out})
	return out, err
}

// Pipeline returns a pipeline by slug or id.
func (c *Client) Pipeline(ctx context.Context, name string) (v1.Pipeline, error) {
	var out v1.Pipeline
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"pipelines", name}, out: &out})
	return out, err
}

// UpdatePipeline changes what in names of a pipeline.
func (c *Client) UpdatePipeline(ctx context.Context, name string, in v1.PipelineChange) (v1.Pipeline, error) {
	var out v1.Pipeline
	err := c.do(ctx, request{method: http.MethodPatch, path: []string{"pipelines", name}, body: in, out: &out})
	return out, err
}

// DeletePipeline deletes a pipeline and its documents irreversibly.
func (c *Client) DeletePipeline(ctx context.Context, name string) (v1.Pipeline, error) {
	var out v1.Pipeline
	err := c.do(ctx, request{method: http.MethodDelete, path: []string{"pipelines", name}, out: &out})
	return out, err
}

// SearchPipeline asks a pipeline.
func (c *Client) SearchPipeline(ctx context.Context, name string, in v1.PipelineQuery) (v1.PipelineAnswer, error) {
	var out v1.PipelineAnswer
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"pipelines", name, "search"}, body: in, out: &out})
	return out, err
}

// ReembedPipeline has a pipeline's passages embedded by another model.
func (c *Client) ReembedPipeline(ctx context.Context, name string, in v1.EmbeddingConfig) (v1.Pipeline, error) {
	var out v1.Pipeline
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"pipelines", name, "reembed"}, body: v1.Reembed{Embedding: in}, out: &out,
	})
	return out, err
}

// AddDocument adds a document to a pipeline, or replaces the one of its key.
// The document that comes back may not be searched yet: see its status.
func (c *Client) AddDocument(ctx context.Context, pipeline string, in v1.NewDocument) (v1.Document, error) {
	var out v1.Document
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"pipelines", pipeline, "documents"}, body: in, out: &out,
	})
	return out, err
}

// ListDocuments returns a page of a pipeline's documents in the order of keys;
// status filters, unless it is empty.
func (c *Client) ListDocuments(
	ctx context.Context, pipeline string, status retrieval.DocumentStatus, page Page,
) (v1.Page[v1.Document], error) {
	var out v1.Page[v1.Document]
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"pipelines", pipeline, "documents"},
		query: params{}.text("status", string(status)).page(page), out: &out,
	})
	return out, err
}

// Document returns a document of a pipeline by id or key.
func (c *Client) Document(ctx context.Context, pipeline, name string) (v1.Document, error) {
	if strings.ContainsAny(name, "/%") { // No path has such a key.
		return c.documentByKey(ctx, pipeline, name)
	}
	var out v1.Document
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"pipelines", pipeline, "documents", name}, out: &out})
	return out, err
}

func (c *Client) documentByKey(ctx context.Context, pipeline, key string) (v1.Document, error) {
	var found v1.Page[v1.Document]
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"pipelines", pipeline, "documents"},
		query: params{}.text("key", key).page(Page{}), out: &found,
	})
	if err != nil {
		return v1.Document{}, err
	}
	if len(found.Items) == 0 {
		return v1.Document{}, &tool.Error{Kind: tool.NotFound, Op: "client.Document", Msg: "there is no such document"}
	}
	return found.Items[0], nil
}

// DocumentText returns the text of a document of a pipeline, by its id, from an
// offset in bytes to another; 0 stands for its end.
func (c *Client) DocumentText(ctx context.Context, pipeline, id string, start, end int) (v1.DocumentText, error) {
	var out v1.DocumentText
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"pipelines", pipeline, "documents", id, "text"},
		query: url.Values(params{}.number("start", int64(start)).number("end", int64(end))), out: &out,
	})
	return out, err
}

// DeleteDocument deletes a document of a pipeline by id or key.
func (c *Client) DeleteDocument(ctx context.Context, pipeline, name string) (v1.Document, error) {
	var out v1.Document
	if strings.ContainsAny(name, "/%") {
		found, err := c.documentByKey(ctx, pipeline, name)
		if err != nil {
			return out, err
		}
		name = found.ID
	}
	err := c.do(ctx, request{
		method: http.MethodDelete, path: []string{"pipelines", pipeline, "documents", name}, out: &out,
	})
	return out, err
}

package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// handbook is the pipeline that searchHandbook asks.
const handbook = "handbook"

// mediaTypes are those of the handbook's documents.
var mediaTypes = map[string]retrieval.MediaType{
	".md": retrieval.Markdown, ".html": retrieval.HTML, ".txt": retrieval.Plain,
}

// fillHandbook adds the documents of examples/handbook to a pipeline, and waits
// until all can be searched. Documents of an earlier demo are left unchanged.
func (d *demo) fillHandbook(ctx context.Context) (string, error) {
	_, err := d.api.CreatePipeline(ctx, v1.NewPipeline{Slug: handbook, Name: "Staff handbook", Search: retrieval.FullText})
	if err != nil && tool.KindOf(err) != tool.Conflict {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(d.cfg.Root, "examples", "handbook", "documents", "*"))
	if err != nil {
		return "", fmt.Errorf("looking for documents: %w", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // The examples of this repository.
		if err != nil {
			return "", fmt.Errorf("reading a document: %w", err)
		}
		name := filepath.Base(file)
		_, err = d.api.AddDocument(ctx, handbook, v1.NewDocument{
			Key: name, MediaType: mediaTypes[filepath.Ext(name)], Source: "handbook/" + name, Text: string(text),
		})
		if err != nil {
			return "", fmt.Errorf("adding %s: %w", name, err)
		}
	}
	return d.awaitHandbook(ctx, len(files))
}

// awaitHandbook waits until as many documents are ready.
func (d *demo) awaitHandbook(ctx context.Context, want int) (string, error) {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		page, err := d.api.ListDocuments(ctx, handbook, "", client.Page{Limit: 200})
		if err != nil {
			return "", err
		}
		ready, passages := 0, 0
		for _, doc := range page.Items {
			switch doc.Status {
			case retrieval.Ready:
				ready++
				passages += doc.Chunks
			case retrieval.Failed:
				return "", fmt.Errorf("document %s: %s", doc.Key, doc.Error)
			case retrieval.Pending, retrieval.Ingesting:
			}
		}
		if ready >= want && ready == len(page.Items) {
			return fmt.Sprintf("%d documents, %d passages", ready, passages), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for the handbook: %w", ctx.Err())
		case <-again.C:
		}
	}
}

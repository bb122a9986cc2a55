package worker

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/embed"
	"github.com/toolcrib/toolcrib/retrieval/extract"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/tool"
)

// retrieval assembles the ingester and the searcher of pipelines. Documents
// that need a reader or a sandbox are refused where there is none.
func (p *Plugin) retrieval(gate *egress.Gate, secrets secret.Resolver) error {
	embedder := embed.New(gate, secrets)
	p.searcher = retrieval.NewEngine(p.store, embedder)
	readers := extract.Config{HTML: PageReader(p.cfg.Reader)}
	if p.box != nil {
		readers.Sandbox = p.box
	}
	var err error
	if p.ingester, err = ingest.New(ingest.Config{
		Store: p.store, Extractor: extract.New(readers), Embedder: embedder,
	}); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	return nil
}

// Searcher searches pipelines in the same way as calls of the plugin's workers,
// for the search API.
func (p *Plugin) Searcher() retrieval.Searcher { return p.searcher }

// PageReader adapts a reader of web pages to documents; nil for a nil reader.
func PageReader(reader builtins.Reader) extract.PageReader {
	if reader == nil {
		return nil
	}
	return func(ctx context.Context, page []byte) (title, markdown string, err error) {
		article, err := reader.Read(ctx, builtins.Page{Body: page, URL: &url.URL{}, Format: builtins.Markdown})
		if _, ours := errors.AsType[*tool.Error](err); err != nil && !ours { // The reader's words, which are for people.
			err = &tool.Error{Kind: tool.Invalid, Op: "worker.PageReader", Msg: err.Error(), Err: err}
		}
		return article.Title, article.Content, err
	}
}

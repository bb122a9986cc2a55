package retrieval_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

var model = retrieval.EmbeddingConfig{URL: "https://models.example/v1", Model: "small", Dimensions: 2}

func TestPipelinesAreChecked(t *testing.T) {
	t.Parallel()

	p := retrieval.Pipeline{Slug: "handbook"}
	require.NoError(t, p.Check())
	require.Equal(
		t, retrieval.Pipeline{Slug: "handbook", Name: "handbook", Search: retrieval.FullText, Language: "english"}, p,
	)
	require.Equal(t, retrieval.Chunking{MaxChars: 1600, Overlap: 160}, p.Chunking.Resolved())
	require.Equal(t, retrieval.Chunking{MaxChars: 200, Overlap: 100}, retrieval.Chunking{MaxChars: 200}.Resolved())
	require.Equal(t, retrieval.Chunking{MaxChars: 800}, retrieval.Chunking{MaxChars: 800, Overlap: -1}.Resolved())

	embedding := func(edit func(*retrieval.EmbeddingConfig)) func(*retrieval.Pipeline) {
		return func(p *retrieval.Pipeline) {
			c := model
			edit(&c)
			p.Embedding = &c
		}
	}
	for name, tt := range map[string]struct {
		edit func(*retrieval.Pipeline)
		path string
	}{
		"slug":             {func(p *retrieval.Pipeline) { p.Slug = "1st" }, "/slug"},
		"name":             {func(p *retrieval.Pipeline) { p.Name = strings.Repeat("x", 201) }, "/name"},
		"description":      {func(p *retrieval.Pipeline) { p.Description = "a\x00" }, "/description"},
		"search":           {func(p *retrieval.Pipeline) { p.Search = "magic" }, "/search"},
		"language":         {func(p *retrieval.Pipeline) { p.Language = "klingon" }, "/language"},
		"no model":         {func(p *retrieval.Pipeline) { p.Search = retrieval.Hybrid }, "/embedding"},
		"small chunks":     {func(p *retrieval.Pipeline) { p.Chunking.MaxChars = 10 }, "/chunking/max_chars"},
		"overlap":          {func(p *retrieval.Pipeline) { p.Chunking.Overlap = 801 }, "/chunking/overlap"},
		"a URL of nothing": {embedding(func(c *retrieval.EmbeddingConfig) { c.URL = "models" }), "/embedding/url"},
		"a URL with a user": {
			embedding(func(c *retrieval.EmbeddingConfig) { c.URL = "https://u:p@models.example" }), "/embedding/url",
		},
		"no name":       {embedding(func(c *retrieval.EmbeddingConfig) { c.Model = "" }), "/embedding/model"},
		"no dimensions": {embedding(func(c *retrieval.EmbeddingConfig) { c.Dimensions = 0 }), "/embedding/dimensions"},
		"a large batch": {embedding(func(c *retrieval.EmbeddingConfig) { c.BatchSize = 513 }), "/embedding/batch_size"},
		"a long prefix": {
			embedding(func(c *retrieval.EmbeddingConfig) { c.QueryPrefix = strings.Repeat("x", 501) }),
			"/embedding/query_prefix",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := retrieval.Pipeline{Slug: "handbook"}
			tt.edit(&p)
			err := p.Check()
			require.Error(t, err)
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			require.Equal(t, tt.path, tool.AsError(err).Path)
		})
	}
}

func TestDocumentsAreChecked(t *testing.T) {
	t.Parallel()

	good := retrieval.Document{Key: "faq", MediaType: retrieval.Markdown}
	require.NoError(t, good.Check([]byte("words")))
	for name, tt := range map[string]struct {
		edit    func(*retrieval.Document)
		content string
		path    string
	}{
		"no key":       {func(d *retrieval.Document) { d.Key = "" }, "x", "/key"},
		"control":      {func(d *retrieval.Document) { d.Key = "a\nb" }, "x", "/key"},
		"title":        {func(d *retrieval.Document) { d.Title = strings.Repeat("x", 501) }, "x", "/title"},
		"source":       {func(d *retrieval.Document) { d.Source = "\xff" }, "x", "/source"},
		"media type":   {func(d *retrieval.Document) { d.MediaType = "image/png" }, "x", "/media_type"},
		"empty":        {func(*retrieval.Document) {}, "", "/content"},
		"too large":    {func(*retrieval.Document) {}, strings.Repeat("x", retrieval.MaxDocumentBytes+1), "/content"},
		"bad metadata": {func(d *retrieval.Document) { d.Metadata = retrieval.Metadata{"a": nil} }, "x", "/metadata/a"},
	} {
		d := good
		tt.edit(&d)
		err := d.Check([]byte(tt.content))
		require.Error(t, err, name)
		require.Equal(t, tt.path, tool.AsError(err).Path, name)
	}
}

func TestCitations(t *testing.T) {
	t.Parallel()

	hit := retrieval.Hit{Title: "Refund\npolicy", DocumentKey: "refunds", Source: "https://docs.example/refunds"}
	require.Equal(t, "[1] Refund policy (https://docs.example/refunds)", hit.Citation(1))
	hit.Headings = []string{"Refund policy", "Deadlines", "", "Gifts\x1b[2J"}
	require.Equal(t, "[2] Refund policy › Deadlines › Gifts[2J (https://docs.example/refunds)", hit.Citation(2))
	hit = retrieval.Hit{DocumentKey: "refunds", Chunk: retrieval.Chunk{Page: 3}}
	require.Equal(t, "[7] refunds, page 3", hit.Citation(7))
}

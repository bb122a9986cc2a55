package api_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/ingesttest"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/extract"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/tool"
)

// noModel embeds nothing.
type noModel struct{}

func (noModel) Embed(
	context.Context, tool.TenantID, retrieval.EmbeddingConfig, retrieval.TextKind, []string,
) ([][]float32, error) {
	return nil, &tool.Error{Kind: tool.Unavailable, Msg: "there is no model"}
}

// withClerk ingests without Temporal.
func withClerk(t *testing.T) (hire func(*api.Config), clerk func() *ingesttest.Clerk) {
	t.Helper()
	var c *ingesttest.Clerk
	return func(cfg *api.Config) {
		i, err := ingest.New(ingest.Config{Store: cfg.Store, Extractor: extract.New(extract.Config{}), Embedder: noModel{}})
		require.NoError(t, err)
		c = ingesttest.New(cfg.Temporal, i)
		cfg.Temporal = c
	}, func() *ingesttest.Clerk { return c }
}

// as decodes an answer of a status.
func as[T any](t *testing.T, got answer, status int) T {
	t.Helper()
	require.Equal(t, status, got.status, string(got.body))
	var out T
	got.into(t, &out)
	return out
}

func TestPipelines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook","description":"What we agreed on"}`)
	p := as[v1.Pipeline](t, made, http.StatusCreated)
	require.Equal(t, "/v1/pipelines/handbook", made.header.Get("Location"))
	require.Equal(t, retrieval.FullText, p.Search)
	require.Equal(t, "handbook", p.Name)
	require.Equal(t, v1.Chunking{MaxChars: 1600, Overlap: 160}, p.Chunking)
	require.Zero(t, *p.Documents)
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`).status)

	for _, tt := range [][2]string{
		{`{"slug":"9"}`, "/slug"},
		{`{"slug":"x","language":"klingon"}`, "/language"},
		{`{"slug":"x","search":"vector"}`, "/embedding"},
		{`{"slug":"x","chunking":{"max_chars":5}}`, "/chunking/max_chars"},
		{`{"slug":"x","embedding":{"url":"ftp://x","model":"m","dimensions":3}}`, "/embedding/url"},
		{`{"slug":"x","embedding":{"url":"https://u:planted@x","model":"m","dimensions":3}}`, "/embedding/url"},
		{`{"slug":"x","embedding":{"url":"https://x","model":"m","dimensions":5000}}`, ""},
	} {
		body, path := tt[0], tt[1]
		got := b.do(t, http.MethodPost, "/v1/pipelines", body)
		if path == "" && got.status == http.StatusCreated { // Left to the endpoint.
			continue
		}
		require.Equal(t, http.StatusUnprocessableEntity, got.status, "%s: %s", body, got.body)
		require.Contains(t, string(got.body), path)
		require.NotContains(t, string(got.body), "planted")
	}

	got := b.do(t, http.MethodGet, "/v1/pipelines/handbook", "")
	first := got.header.Get("Etag")
	changed := b.send(t, http.MethodPatch, "/v1/pipelines/"+p.ID, `{"name":"Staff handbook","disabled":true}`,
		map[string]string{"If-Match": first})
	p = as[v1.Pipeline](t, changed, http.StatusOK)
	require.Equal(t, "Staff handbook", p.Name)
	require.Equal(t, "What we agreed on", p.Description, "what is absent stays")
	require.True(t, p.Disabled)
	require.Equal(
		t, http.StatusPreconditionFailed,
		b.send(t, http.MethodPatch, "/v1/pipelines/handbook", `{"name":"x"}`, map[string]string{"If-Match": first}).status,
	)
	require.Equal(
		t, http.StatusPreconditionFailed,
		b.send(t, http.MethodDelete, "/v1/pipelines/handbook", "", map[string]string{"If-Match": first}).status,
	)
	require.Equal(
		t, http.StatusConflict, b.do(t, http.MethodPost, "/v1/pipelines/handbook/search", `{"query":"x"}`).status,
		"disabled",
	)

	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"archive"}`)
	page := as[v1.Page[v1.Pipeline]](t, b.do(t, http.MethodGet, "/v1/pipelines?limit=1", ""), http.StatusOK)
	require.Equal(t, "archive", page.Items[0].Slug)
	page = as[v1.Page[v1.Pipeline]](t, b.do(t, http.MethodGet, "/v1/pipelines?limit=1&cursor="+page.Next, ""),
		http.StatusOK)
	require.Equal(t, "handbook", page.Items[0].Slug)

	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, "/v1/pipelines/handbook", "").status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/pipelines/"+p.ID, "").status)
}

const leave = "# Annual leave\n\n## How many days\n\nFull-time staff have 28 days a year.\n\n## Left over\n\nFive " +
	"days move into March.\n"

func newDocument(t *testing.T, key, text string, metadata map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"key": key, "text": text, "media_type": "text/markdown", "source": "handbook/" + key, "metadata": metadata,
	})
	require.NoError(t, err)
	return string(raw)
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	hire, clerk := withClerk(t)
	b := setup(t, hire)
	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`)
	const at = "/v1/pipelines/handbook/documents"

	added := b.do(
		t, http.MethodPost, at, newDocument(t, "people/leave.md", leave, map[string]any{"team": "people", "year": 2026}),
	)
	d := as[v1.Document](t, added, http.StatusAccepted)
	require.Equal(t, at+"/"+d.ID, added.header.Get("Location"))
	d = as[v1.Document](t, b.do(t, http.MethodGet, at+"/"+d.ID, ""), http.StatusOK)
	require.Equal(t, retrieval.Ready, d.Status)
	require.Equal(t, "Annual leave", d.Title, "as the content says of itself")
	require.Equal(t, int64(1), d.Live)
	require.Len(t, clerk().Started(), 1)

	again := b.do(
		t, http.MethodPost, at, newDocument(t, "people/leave.md", leave, map[string]any{"team": "people", "year": 2026}),
	)
	require.Equal(t, http.StatusOK, again.status, "the same again changes nothing: %s", again.body)
	require.Len(t, clerk().Started(), 1)

	for body, says := range map[string]string{
		`{"key":"x"}`: "empty",
		`{"key":"x","text":"a","content_base64":"YQ=="}`:             "one of",
		`{"key":"x","text":"a","media_type":"application/pdf"}`:      "content_base64",
		`{"key":"x","text":"a","media_type":"image/png"}`:            "",
		`{"key":"","text":"a"}`:                                      "",
		`{"key":"x","text":"a","metadata":{"a":{"b":1}}}`:            "/metadata/a",
		`{"key":"x","text":"a","metadata":{"a b":1}}`:                "field",
		`{"key":"x","content_base64":"***"}`:                         "not base64",
		`{"key":"x","text":"` + strings.Repeat("a", 10<<20+1) + `"}`: "10 MiB",
	} {
		got := b.do(t, http.MethodPost, at, body)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, "%.80s: %s", body, got.body)
		require.Contains(t, string(got.body), says)
	}
	got := b.do(t, http.MethodPost, at, `{"key":"x","text":"`+strings.Repeat("a", api.MaxDocumentBody)+`"}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status)

	// What can't be ingested says why, and is tried again when it is added again.
	page := base64.StdEncoding.EncodeToString([]byte("<p>Returns"))
	as[v1.Document](
		t, b.do(t, http.MethodPost, at, `{"key":"returns.html","media_type":"text/html","content_base64":"`+page+`"}`),
		http.StatusAccepted,
	)
	bad := as[v1.Document](t, b.do(t, http.MethodGet, at+"/returns.html", ""), http.StatusOK)
	require.Equal(t, retrieval.Failed, bad.Status)
	require.NotEmpty(t, bad.Error)
	b.do(t, http.MethodPost, at, `{"key":"returns.html","media_type":"text/html","content_base64":"`+page+`"}`)
	require.Len(t, clerk().Started(), 3)

	// Where Temporal goes away after it was looked at, the ingestion is started later.
	clerk().Leave(errors.New("away"))
	body := newDocument(t, "late.md", "# Late\n\nLater.", nil)
	require.Equal(t, http.StatusAccepted, b.do(t, http.MethodPost, at, body).status)
	require.Equal(
		t, http.StatusServiceUnavailable, b.do(t, http.MethodPost, at, newDocument(t, "later.md", "# Later", nil)).status,
	)
	backlog, err := b.Store.CountStarts(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, backlog.Count)
	clerk().Leave(nil)
	require.Eventually(t, func() bool { // What was found of Temporal is good for a second.
		return b.do(t, http.MethodPost, at, body).status == http.StatusAccepted
	}, time.Minute, 50*time.Millisecond)
	late := as[v1.Document](t, b.do(t, http.MethodPost, at, body), http.StatusAccepted)
	require.Equal(t, int64(1), late.Version)

	list := as[v1.Page[v1.Document]](t, b.do(t, http.MethodGet, at+"?limit=2", ""), http.StatusOK)
	require.Equal(t, []string{"late.md", "people/leave.md"}, []string{list.Items[0].Key, list.Items[1].Key})
	list = as[v1.Page[v1.Document]](t, b.do(t, http.MethodGet, at+"?cursor="+list.Next, ""), http.StatusOK)
	require.Equal(t, "returns.html", list.Items[0].Key)
	require.Empty(t, list.Next)
	list = as[v1.Page[v1.Document]](t, b.do(t, http.MethodGet, at+"?status=failed", ""), http.StatusOK)
	require.Len(t, list.Items, 1)
	list = as[v1.Page[v1.Document]](t, b.do(t, http.MethodGet, at+"?key=people/leave.md", ""), http.StatusOK)
	require.Equal(t, d.ID, list.Items[0].ID)
	require.Empty(
		t,
		as[v1.Page[v1.Document]](t, b.do(t, http.MethodGet, at+"?key=people/leave.md&status=failed", ""),
			http.StatusOK).Items,
	)
	require.Empty(t, as[v1.Page[v1.Document]](t, b.do(t, http.MethodGet, at+"?key=nobody", ""), http.StatusOK).Items)

	// Another tenant's document is not found in one's own pipeline either.
	stranger := b.Key(t, b.Tenant(t), "*")
	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`, stranger)
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		foreign, absent := b.do(t, method, at+"/"+d.ID, "",
			stranger), b.do(t, method, at+"/"+d.ID[:len(d.ID)-3]+"fff", "", stranger)
		require.Equal(t, http.StatusNotFound, foreign.status)
		requireSameProblem(t, absent, foreign, d.ID[:len(d.ID)-3]+"fff", d.ID)
	}

	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, at+"/"+d.ID, "").status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, at+"/"+d.ID, "").status)
	p := as[v1.Pipeline](t, b.do(t, http.MethodGet, "/v1/pipelines/handbook", ""), http.StatusOK)
	require.Equal(t, 2, *p.Documents)
}

func TestSearchOfPipelines(t *testing.T) {
	t.Parallel()
	hire, _ := withClerk(t)
	b := setup(t, hire)
	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`)
	for key, team := range map[string]string{"leave.md": "people", "old.md": "archive"} {
		got := b.do(t, http.MethodPost, "/v1/pipelines/handbook/documents",
			newDocument(t, key, leave, map[string]any{"team": team}))
		require.Equal(t, http.StatusAccepted, got.status, string(got.body))
	}
	const at = "/v1/pipelines/handbook/search"
	reader := b.Key(t, b.tenant, api.PipelinesRead)
	found := as[v1.PipelineAnswer](
		t, b.do(t, http.MethodPost, at, `{"query":"days of staff","filter":{"team":"people"}}`, reader), http.StatusOK,
	)
	require.Equal(t, "handbook", found.Pipeline)
	require.Equal(t, retrieval.FullText, found.Mode)
	require.NotEmpty(t, found.Hits)
	hit := found.Hits[0]
	require.Equal(t, "[1] Annual leave › How many days (handbook/leave.md)", hit.Citation)
	require.Contains(t, hit.Text, "28 days a year")
	require.Equal(t, "leave.md", hit.DocumentKey)
	require.Equal(t, hit.Text, leave[hit.Start:hit.End])
	require.JSONEq(t, `{"team":"people"}`, string(must(json.Marshal(hit.Metadata))))
	require.Empty(t, as[v1.PipelineAnswer](t, b.do(t, http.MethodPost, at, `{"query":"wombats"}`), http.StatusOK).Hits)

	for body, want := range map[string]int{
		`{"query":" "}`: http.StatusUnprocessableEntity,
		`{"query":"x","filter":{"team":{"like":1}}}`: http.StatusUnprocessableEntity,
		`{"query":"x","filter":[1]}`:                 http.StatusUnprocessableEntity,
		`{"query":"x","limit":51}`:                   http.StatusUnprocessableEntity,
		`{"query":"x","mode":"vector"}`:              http.StatusConflict,
	} {
		require.Equal(t, want, b.do(t, http.MethodPost, at, body).status, body)
	}
	require.Equal(
		t, http.StatusForbidden,
		b.do(t, http.MethodPost, "/v1/pipelines/handbook/documents", newDocument(t, "x", "x", nil), reader).status,
	)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestReembedding(t *testing.T) {
	t.Parallel()
	hire, clerk := withClerk(t)
	b := setup(t, hire)
	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`)
	b.do(t, http.MethodPost, "/v1/pipelines/handbook/documents", newDocument(t, "leave.md", leave, nil))
	clerk().Leave(&serviceerror.WorkflowExecutionAlreadyStarted{}) // Another process ingests it, and has not finished.
	const model = `{"embedding":{"url":"https://models.example.com/v1","model":"small","dimensions":3,"credentials_ref":"models"}}`
	p := as[v1.Pipeline](t, b.do(t, http.MethodPost, "/v1/pipelines/handbook/reembed", model), http.StatusAccepted)
	require.NotNil(t, p.Reembedding)
	require.Equal(t, "small", p.Reembedding.Embedding.Model)
	require.Nil(t, p.Embedding, "the old way is searched until it is done")
	require.True(t, strings.HasSuffix(p.Reembedding.Workflow, "/reembed/"+p.ID+"/1"), p.Reembedding.Workflow)

	p = as[v1.Pipeline](t, b.do(t, http.MethodGet, "/v1/pipelines/handbook", ""), http.StatusOK)
	require.Equal(t, 2, *p.Reembedding.Left, "one for each section")
	require.Equal(t, "models", p.Reembedding.Embedding.CredentialsRef)
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, "/v1/pipelines/handbook/reembed",
		`{"embedding":{"url":"models.example.com","model":"small","dimensions":3}}`).status)
	stale := map[string]string{"If-Match": `"` + p.ID + `.0"`}
	require.Equal(
		t, http.StatusPreconditionFailed, b.send(t, http.MethodPost, "/v1/pipelines/handbook/reembed", model, stale).status,
	)

	// A model that does not embed leaves the pipeline as it was.
	clerk().Leave(nil)
	b.do(t, http.MethodPost, "/v1/pipelines/handbook/reembed", model)
	p = as[v1.Pipeline](t, b.do(t, http.MethodGet, "/v1/pipelines/handbook", ""), http.StatusOK)
	require.Nil(t, p.Reembedding)
	require.Nil(t, p.Embedding)
}

// Exclusion is asked for by its field, or by a phrase behind a minus; nothing else
// that begins with one leaves anything out.
func TestSearchesExclude(t *testing.T) {
	t.Parallel()
	hire, _ := withClerk(t)
	b := setup(t, hire)
	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`)
	for key, text := range map[string]string{
		"a.md": "Tasks go to the queue with --dlq-type cassandra.", "b.md": "Tasks stay in the queue of the source cluster.",
	} {
		as[v1.Document](t, b.do(t, http.MethodPost, "/v1/pipelines/handbook/documents", newDocument(t, key, text, nil)),
			http.StatusAccepted)
	}
	found := func(body string) (keys []string) {
		answer := as[v1.PipelineAnswer](t, b.do(t, http.MethodPost, "/v1/pipelines/handbook/search", body), http.StatusOK)
		for _, hit := range answer.Hits {
			keys = append(keys, hit.DocumentKey)
		}
		return keys
	}
	require.Len(t, found(`{"query":"tasks queue"}`), 2)
	require.Equal(t, []string{"a.md", "b.md"}, found(`{"query":"tasks queue --dlq-type"}`))
	require.Equal(t, []string{"b.md", "a.md"}, found(`{"query":"tasks -source"}`))
	require.Equal(t, []string{"b.md"}, found(`{"query":"tasks queue","exclude":["dlq type"]}`))
	require.Equal(t, []string{"b.md"}, found(`{"query":"tasks queue -\"--dlq-type\""}`))
	require.Equal(t, []string{"a.md"}, found(`{"query":"-\"source cluster\" tasks"}`))
	require.Empty(t, found(`{"query":"tasks","exclude":["source cluster","cassandra"]}`))
	for _, body := range []string{
		`{"query":"tasks","exclude":[" "]}`, `{"query":"-\"source\""}`,
		`{"query":"x","exclude":["a","a","a","a","a","a","a","a","a","a","a"]}`,
	} {
		require.Equal(
			t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, "/v1/pipelines/handbook/search", body).status, body,
		)
	}
}

// What a hit says of its place holds for the text that the API returns.
func TestOffsetsAreOfTheTextThatIsReturned(t *testing.T) {
	t.Parallel()
	hire, _ := withClerk(t)
	b := setup(t, hire)
	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`)
	const at = "/v1/pipelines/handbook/documents"
	content := "---\ntitle: Übersicht\nteam: people\n---\r\n" + leave
	d := as[v1.Document](t, b.do(t, http.MethodPost, at, newDocument(t, "people/leave.md", content, nil)),
		http.StatusAccepted)
	text := as[v1.DocumentText](t, b.do(t, http.MethodGet, at+"/"+d.ID+"/text", ""), http.StatusOK)
	require.Equal(t, strings.ReplaceAll(content, "\r\n", "\n"), text.Text)
	require.Equal(t, len(text.Text), text.Bytes)
	require.EqualValues(t, 1, text.Version)
	answer := as[v1.PipelineAnswer](t, b.do(t, http.MethodPost, "/v1/pipelines/handbook/search", `{"query":"days"}`),
		http.StatusOK)
	require.Len(t, answer.Hits, 2)
	for _, hit := range answer.Hits {
		require.Equal(t, hit.Text, text.Text[hit.Start:hit.End])
		part := as[v1.DocumentText](
			t, b.do(t, http.MethodGet, fmt.Sprintf("%s/%s/text?start=%d&end=%d", at, hit.DocumentID, hit.Start, hit.End), ""),
			http.StatusOK,
		)
		require.Equal(t, hit.Text, part.Text)
	}
	for query, says := range map[string]string{
		"start=5&end=4": "outside of the text", "end=100000": "outside of the text", "end=12": "inside of a character",
		"start=-1": "",
	} {
		got := b.do(t, http.MethodGet, at+"/"+d.ID+"/text?"+query, "")
		require.Equal(t, http.StatusUnprocessableEntity, got.status, query)
		require.Contains(t, string(got.body), says)
	}
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, at+"/nobody/text", "").status)
	require.Equal(
		t, http.StatusNotFound, b.do(t, http.MethodGet, at+"/"+d.ID+"/text", "", b.Key(t, b.Tenant(t), "*")).status,
	)
}

// What is no text, or not what it is said to be, is refused when it is put.
func TestDocumentsAreOfTheirMediaType(t *testing.T) {
	t.Parallel()
	hire, _ := withClerk(t)
	b := setup(t, hire)
	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`)
	put := func(mediaType, content string) answer {
		raw, err := json.Marshal(map[string]any{"key": "a", "media_type": mediaType, "content_base64": []byte(content)})
		require.NoError(t, err)
		return b.do(t, http.MethodPost, "/v1/pipelines/handbook/documents", string(raw))
	}
	for content, says := range map[string]string{
		"%PDF-1.7 ...": "application/pdf", "\x89PNG\r\n\x1a\n": "PNG", "a\x00b": "binary",
	} {
		got := put("text/markdown", content)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, content)
		require.Contains(t, string(got.body), says)
	}
	require.Contains(t, string(put("application/pdf", "# text").body), "is not a PDF")
	require.Equal(t, http.StatusAccepted, put("text/markdown", "\xff\xfe#\x00 \x00H\x00i\x00").status)
	answer := as[v1.PipelineAnswer](t, b.do(t, http.MethodPost, "/v1/pipelines/handbook/search", `{"query":"hi"}`),
		http.StatusOK)
	require.Equal(t, "# Hi", answer.Hits[0].Text)
}

// A pipeline whose passages can't be embedded says why.
func TestReembeddingThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	hire, _ := withClerk(t)
	b := setup(t, hire)
	b.do(t, http.MethodPost, "/v1/pipelines", `{"slug":"handbook"}`)
	as[v1.Document](
		t, b.do(t, http.MethodPost, "/v1/pipelines/handbook/documents", newDocument(t, "leave.md", leave, nil)),
		http.StatusAccepted,
	)
	as[v1.Pipeline](
		t,
		b.do(t, http.MethodPost, "/v1/pipelines/handbook/reembed",
			`{"embedding":{"url":"https://ai.example/v1","model":"m","dimensions":3}}`),
		http.StatusAccepted,
	)
	p := as[v1.Pipeline](t, b.do(t, http.MethodGet, "/v1/pipelines/handbook", ""), http.StatusOK)
	require.Nil(t, p.Reembedding)
	require.Equal(t, "there is no model", p.Failed)
}

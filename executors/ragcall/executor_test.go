package ragcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/executors/ragcall"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/ask"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	acme     = tool.TenantID("01890000-0000-7000-8000-000000000001")
	stranger = tool.TenantID("01890000-0000-7000-8000-000000000002")
)

// library is a searcher with the pipeline "handbook" of one tenant.
type library struct {
	hits   []retrieval.Hit
	asked  retrieval.Query
	behave func(ctx context.Context) error
}

func (l *library) Search(
	ctx context.Context, tenant tool.TenantID, pipeline string, q retrieval.Query,
) (retrieval.Answer, error) {
	if l.behave != nil {
		if err := l.behave(ctx); err != nil {
			return retrieval.Answer{}, err
		}
		return retrieval.Answer{Hits: l.hits}, nil
	}
	if tenant != acme || pipeline != "handbook" {
		return retrieval.Answer{}, &tool.Error{
			Kind: tool.NotFound, Op: "store.FindPipeline", Msg: fmt.Sprintf("pipeline %q not found", pipeline),
		}
	}
	if err := q.Check(); err != nil {
		return retrieval.Answer{}, err
	}
	l.asked = q
	return retrieval.Answer{
		Pipeline: retrieval.Pipeline{ID: "p", Slug: "handbook"}, Mode: retrieval.FullText, Hits: l.hits,
	}, nil
}

func call(tenant tool.TenantID, config, args string) *tool.Call {
	return &tool.Call{
		CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: tenant}}, Arguments: json.RawMessage(args),
		Version: &tool.Version{
			Snapshot: tool.Snapshot{
				Definition: tool.Definition{Implementation: tool.RAGRetrieval, Config: json.RawMessage(config)},
			},
		},
	}
}

func refund() retrieval.Hit {
	return retrieval.Hit{
		Chunk: retrieval.Chunk{
			ID: "c1", DocumentID: "d1", Text: "Customers return goods within thirty days.",
			Headings: []string{"Returns", "Deadlines"}, Start: 10, End: 52,
		},
		DocumentKey: "refunds", Title: "Refund policy", Source: "https://docs.example/refunds", Score: 1.5,
		Metadata: retrieval.Metadata{"year": 2026.0},
	}
}

func TestPassagesAreCited(t *testing.T) {
	t.Parallel()

	l := &library{
		hits: []retrieval.Hit{
			refund(), {Chunk: retrieval.Chunk{ID: "c2", DocumentID: "d2", Text: "Money goes back."}, DocumentKey: "money"},
		},
	}
	res, err := ragcall.New(l).Execute(
		t.Context(), call(acme, `{"pipeline_id": "handbook"}`, `{"query": "How long may I return goods?"}`),
	)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"query": "How long may I return goods?", "pipeline": "handbook", "mode": "full_text",
		"hits": [
			{"text": "Customers return goods within thirty days.", "title": "Refund policy", "source": "https://docs.example/refunds",
			 "headings": ["Returns", "Deadlines"], "citation": "[1] Refund policy › Returns › Deadlines (https://docs.example/refunds)", "score": 1.5,
			 "document_id": "d1", "document_key": "refunds", "chunk_id": "c1", "start": 10, "end": 52, "metadata": {"year": 2026}},
			{"text": "Money goes back.", "title": "", "source": "", "headings": [], "citation": "[2] money", "score": 0,
			 "document_id": "d2", "document_key": "money", "chunk_id": "c2", "start": 0, "end": 0, "metadata": {}}
		]}`, string(res.Structured))
	require.Equal(t, "[1] Refund policy › Returns › Deadlines (https://docs.example/refunds)\nCustomers return goods "+
		"within thirty days.\n\n"+
		"[2] money\nMoney goes back.", res.Content[0].Text)
	require.Equal(t, retrieval.DefaultLimit, l.asked.Limit)
	output, err := schema.New(0).Compile(json.RawMessage(ask.OutputSchema))
	require.NoError(t, err)
	require.NoError(t, output.Validate(t.Context(), res.Structured))
}

func TestNothingFoundIsAnAnswer(t *testing.T) {
	t.Parallel()

	res, err := ragcall.New(&library{}).Execute(t.Context(),
		call(acme, `{"pipeline": "handbook"}`, `{"query": "zeppelins"}`))
	require.NoError(t, err)
	require.False(t, res.IsError)
	require.JSONEq(t, `{"query": "zeppelins", "pipeline": "handbook", "mode": "full_text", "hits": []}`,
		string(res.Structured))
	require.Equal(t, "Nothing in handbook matches.", res.Content[0].Text)
}

func TestConfigurationAndArgumentsNarrow(t *testing.T) {
	t.Parallel()

	l := &library{}
	config := `{"pipeline_id": "handbook", "limit": 7, "mode": "hybrid", "min_score": 0.5, "filter": {"team": "billing"}}`
	_, err := ragcall.New(l).Execute(
		t.Context(),
		call(acme, config, `{"query": "x", "filter": {"year": {"gte": 2024}}}`),
	)
	require.NoError(t, err)
	require.Equal(
		t,
		retrieval.Query{Text: "x", Limit: 7, Mode: retrieval.Hybrid, MinScore: 0.5, Filter: retrieval.Filter{
			{Field: "team", Comparison: retrieval.In, Values: []any{"billing"}},
			{Field: "year", Comparison: retrieval.AtLeast, Values: []any{json.Number("2024")}},
		}},
		l.asked,
		"a call narrows what the configuration allows, and never widens it",
	)
	_, err = ragcall.New(l).Execute(t.Context(), call(acme, config, `{"query": "x", "limit": 2, "pipeline": "another"}`))
	require.NoError(t, err, "the configuration says which pipeline")
	require.Equal(t, 2, l.asked.Limit)
}

func TestCallsAreRefused(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		tenant       tool.TenantID
		config, args string
		kind         tool.Kind
		path         string
	}{
		"another tenant's": {stranger, `{"pipeline_id": "handbook"}`, `{"query": "x"}`, tool.NotFound, ""},
		"gone":             {acme, `{"pipeline_id": "gone"}`, `{"query": "x"}`, tool.NotFound, ""},
		"no query":         {acme, `{"pipeline_id": "handbook"}`, `{}`, tool.Invalid, "/query"},
		"another type":     {acme, `{"pipeline_id": "handbook"}`, `{"query": 1}`, tool.Invalid, ""},
		"a large limit":    {acme, `{"pipeline_id": "handbook"}`, `{"query": "x", "limit": 500}`, tool.Invalid, "/limit"},
		"a bad filter": {
			acme, `{"pipeline_id": "handbook"}`, `{"query": "x", "filter": {"team": {"like": "a"}}}`, tool.Invalid,
			"/filter/team",
		},
		"no pipeline": {acme, `{}`, `{"query": "x"}`, tool.Invalid, ""},
	} {
		_, err := ragcall.New(&library{}).Execute(t.Context(), call(tt.tenant, tt.config, tt.args))
		require.Error(t, err, name)
		require.Equal(t, tt.kind, tool.KindOf(err), "%s: %v", name, err)
		require.Equal(t, tt.path, tool.AsError(err).Path, name)
	}
}

func TestLongAnswersAreCut(t *testing.T) {
	t.Parallel()

	l := &library{}
	for i := range 20 {
		l.hits = append(l.hits, retrieval.Hit{
			Chunk: retrieval.Chunk{ID: strconv.Itoa(i), Text: strings.Repeat("x", retrieval.MaxChunkBytes)},
		})
	}
	res, err := ragcall.New(l).Execute(
		t.Context(), call(acme, `{"pipeline_id": "handbook"}`, `{"query": "x", "limit": 20}`),
	)
	require.NoError(t, err)
	require.Less(t, len(res.Structured), 2*ask.MaxText)
	var got struct {
		Hits    []json.RawMessage `json:"hits"`
		Omitted int               `json:"omitted"`
	}
	require.NoError(t, json.Unmarshal(res.Structured, &got))
	require.Len(t, got.Hits, ask.MaxText/retrieval.MaxChunkBytes)
	require.Equal(t, 20-len(got.Hits), got.Omitted)
	require.Len(t, res.Warnings, 1)
	require.Contains(t, res.Content[0].Text, "left out")
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()

	for config, path := range map[string]string{
		``:                                      "/pipeline_id",
		`{}`:                                    "/pipeline_id",
		`[]`:                                    "",
		`{"pipeline_id": "a b"}`:                "/pipeline_id",
		`{"pipeline": "../x"}`:                  "/pipeline",
		`{"pipeline": "a", "pipeline_id": "a"}`: "/pipeline",
		`{"pipeline": "a", "limit": 51}`:        "/limit",
		`{"pipeline": "a", "limit": "5"}`:       "/limit",
		`{"pipeline": "a", "mode": "magic"}`:    "/mode",
		`{"pipeline": "a", "min_score": -1}`:    "/min_score",
		`{"pipeline": "a", "filter": {"x": {"like": "%"}}}`:  "/filter/x",
		`{"pipeline": "a", "top_k": 5}`:                      "/top_k",
		`{"pipeline": "a", "type": "http"}`:                  "/type",
		`{"pipeline": "a", "builtin": "retrieval_pipeline"}`: "/builtin",
		`{"pipeline": "a"} {}`:                               "",
	} {
		err := ragcall.CheckConfig(json.RawMessage(config))
		require.Error(t, err, config)
		require.Equal(t, tool.Invalid, tool.KindOf(err), config)
		require.Equal(t, path, tool.AsError(err).Path, config)
	}
	require.NoError(
		t,
		ragcall.CheckConfig(
			json.RawMessage(`{"type": "rag_retrieval", "pipeline_id": "01890000-0000-7000-8000-000000000001"}`),
		),
	)
}

// Searches keep the contract of executors.
func TestConformance(t *testing.T) {
	t.Parallel()

	fails := func(e tool.Error) func(context.Context) error {
		return func(context.Context) error { return &e }
	}
	behaviours := map[executortest.Behaviour]func(ctx context.Context) error{
		executortest.Answers: func(context.Context) error { return nil },
		executortest.Refuses: fails(tool.Error{Kind: tool.Denied, Msg: "the model's endpoint refused the credential"}),
		executortest.Saturated: fails(tool.Error{
			Kind: tool.RateLimited, Msg: "the model is busy", RetryAfter: executortest.RetryAfter,
		}),
		executortest.Fails:       fails(tool.Error{Kind: tool.Unavailable, Msg: "the database is not available"}),
		executortest.Unreachable: fails(tool.Error{Kind: tool.Unavailable, Msg: "the database is not answering"}),
		executortest.BreaksOff:   fails(tool.Error{Kind: tool.Unavailable, Msg: "the database is not answering"}),
		executortest.Panics:      func(context.Context) error { panic("a defect") },
		executortest.Hangs: func(ctx context.Context) error {
			<-ctx.Done()
			kind := tool.Cancelled
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				kind = tool.Timeout
			}
			return &tool.Error{Kind: kind, Msg: "the database took too long", Err: ctx.Err()}
		},
	}
	const search = "a search changes nothing and carries no secret"
	executortest.Run(t, executortest.Harness{
		New: func(t *testing.T, b executortest.Behaviour) executortest.Subject {
			t.Helper()
			return executortest.Subject{
				Executor: ragcall.New(&library{hits: []retrieval.Hit{refund()}, behave: behaviours[b]}),
				Call: func(effectID string) *tool.Call {
					c := call(acme, `{"pipeline_id": "handbook"}`, `{"query": "x"}`)
					c.EffectID = effectID
					return c
				},
			}
		},
		Lacks: map[executortest.Behaviour]string{
			executortest.SaysNo: "nothing found is an answer", executortest.Overflows: "it leaves out what is too long",
			executortest.QuotesSecret: search, executortest.NoSecret: search,
		},
		Inside: true,
	})
}

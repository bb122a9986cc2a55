package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

func testSearch(t *testing.T, d *Database) {
	t.Helper()
	shelf := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
	shelf.Add(t, retrieval.Document{
		Key: "refunds", Title: "Refund policy", Source: "https://docs.example/refunds",
		Metadata: retrieval.Metadata{"team": "billing", "year": 2024.0, "public": true, "tags": []any{"money", "returns"}},
	},
		"Deadlines|Customers return goods within thirty days.\nMoney goes back to the card that paid.\nShipping is not "+
			"paid back.")
	shelf.Add(t, retrieval.Document{
		Key: "shipping", Title: "Shipping",
		Metadata: retrieval.Metadata{"team": "logistics", "year": 2026.0, "since": "2026-01-31"},
	},
		"Parcels leave within two days.\nExpress parcels leave on the same day, and cost more money.\nThe card of a parcel "+
			"shows where it is.")
	other := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: shelf.Pipeline.Tenant})
	other.Add(t, retrieval.Document{Key: "x"}, "Parcels and money of another pipeline, which says refund and card too.")

	t.Run("AllWordsComeFirst", func(t *testing.T) {
		t.Parallel()
		hits := shelf.Ask(t, "money card")
		require.NotEmpty(t, hits)
		require.Equal(t, "Money goes back to the card that paid.", hits[0].Text)
		require.Greater(t, hits[0].Score, 1.0)
		require.Equal(t, "refunds", hits[0].Key)
		require.Equal(t, "https://docs.example/refunds", hits[0].Source)
		require.Equal(t, 1, hits[0].Position)
		for _, h := range hits[1:] {
			require.Less(t, h.Score, hits[0].Score)
		}
	})

	t.Run("AQuestionFindsWhatHoldsSomeOfIt", func(t *testing.T) {
		t.Parallel()
		hits := shelf.Ask(t, "How many days do I have until the goods I bought must be returned to the warehouse?")
		require.NotEmpty(t, hits)
		require.Equal(t, "Customers return goods within thirty days.", hits[0].Text, "words are reduced: returned, return")
		require.LessOrEqual(t, hits[0].Score, 1.0)
		require.Equal(t, []string{"Deadlines"}, hits[0].Headings)
	})

	t.Run("TitlesAndHeadingsCount", func(t *testing.T) {
		t.Parallel()
		require.Len(t, shelf.Ask(t, "refund"), 3, "every chunk has its document's title")
		require.Equal(t, "Customers return goods within thirty days.", shelf.Ask(t, "deadlines")[0].Text)
		hits := shelf.Ask(t, "shipping")
		require.Equal(t, "shipping", hits[0].Key, "a title tells more than a mention")
	})

	t.Run("PhrasesAndExclusions", func(t *testing.T) {
		t.Parallel()
		for _, h := range shelf.AskWithout(t, "parcels", "express") {
			require.NotContains(t, h.Text, "Express")
		}
		require.Len(t, shelf.AskWithout(t, "parcels", "express parcels"), 2)
		require.Len(t, shelf.AskWithout(t, "parcels", "parcels express"), 3, "it is a phrase")
		require.Empty(t, shelf.AskWithout(t, "?!", "express"), "nothing is asked for")
		hits := shelf.Ask(t, `"express parcels"`)
		require.Contains(t, hits[0].Text, "Express parcels")
		require.Greater(t, hits[0].Score, 1.0)
		require.LessOrEqual(t, hits[1].Score, 1.0, "parcels without express come after")
		require.Len(t, shelf.Ask(t, "thirty or express"), 2)
	})

	t.Run("WordsThatLookLikeFlagsAreWords", func(t *testing.T) {
		t.Parallel()
		require.Contains(t, shelf.Ask(t, "parcels -express")[0].Text, "Express parcels")
		require.Len(t, shelf.Ask(t, "-express"), 1)
		require.Len(t, shelf.Ask(t, "--express"), 1)
		require.Contains(t, shelf.Ask(t, `parcels -"express parcels"`)[0].Text, "Express parcels")
		require.Len(t, shelf.Ask(t, "thirty or -express"), 2)
	})

	t.Run("IdentifiersAreFoundByTheirParts", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: shelf.Pipeline.Tenant})
		lines := []string{
			"Set history.enableReplicationDLQV2 to write to it.", "The order SO-1007 is open.", "Names in snake_case are kept.",
			"Pass --dlq-type to list it.", "Replication is on.", "A queue of history tasks.",
			"The order of 1007 things is open.", "See config/dynamic.yaml:12 for it.",
			"It is an HTTPServer of v1.2.3.", "PostgreSQL is needed.", "A List<RetryPolicy> is given.",
		}
		s.Add(t, retrieval.Document{Key: "a"}, strings.Join(lines, "\n"))
		for query, want := range map[string]int{
			"history.enableReplicationDLQV2": 0, "enableReplicationDLQV2": 0, "replication dlq": 0, "DLQV2": 0, "dlq v2": 0,
			"enable_replication":             0,
			"HISTORY.ENABLEREPLICATIONDLQV2": 0, `"replication dlq"`: 0,
			"SO-1007": 1, "so-1007": 1, "is SO-1007 open?": 1, "(SO-1007)": 1, "snake case": 2, "snake_case": 2, "snake-case": 2,
			"SnakeCase": 2, "snakeCase": 2,
			"--dlq-type": 3, "dlq-type": 3, "dlq type": 3, "-dlqType": 3,
			"dynamic": 7, "config/dynamic.yaml": 7, "dynamic.yaml:12": 7, "yaml": 7,
			"http server": 8, "HTTPServer": 8, "httpserver": 8, "v1.2.3": 8, "1.2.3": 8,
			"postgresql": 9, "PostgreSQL": 9, "postgreSQL": 9, "retry policy": 10, "RetryPolicy": 10, "retryPolicies": 10,
		} {
			hits := s.Ask(t, query)
			require.NotEmpty(t, hits, query)
			require.Equal(t, lines[want], hits[0].Text, query)
			require.Greater(t, hits[0].Score, 1.0, query)
		}
	})

	t.Run("NothingComesOfNothing", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"zeppelin", "the of and", "?!", "''", `\`, "' | '", "!none", "none", ":*", "<->"} {
			require.Empty(t, shelf.Ask(t, text), text)
		}
	})

	t.Run("AnotherPipelineIsAnotherWorld", func(t *testing.T) {
		t.Parallel()
		hits := other.Ask(t, "parcels money refund card shipping")
		require.Len(t, hits, 1)
		require.Equal(t, "x", hits[0].Key)
		require.Empty(t, other.Ask(t, "thirty"))
	})

	t.Run("FiltersHoldForDocuments", func(t *testing.T) {
		t.Parallel()
		for filter, want := range map[string][]string{
			`{"team": "billing"}`:                                {"refunds"},
			`{"team": {"in": ["logistics", "none"]}}`:            {"shipping"},
			`{"tags": "money"}`:                                  {"refunds"},
			`{"tags": {"in": ["x", "returns"]}}`:                 {"refunds"},
			`{"year": {"gte": 2024}}`:                            {"refunds", "shipping"},
			`{"year": {"gte": 2024.5, "lte": 2026}}`:             {"shipping"},
			`{"year": {"lte": 2024}}`:                            {"refunds"},
			`{"year": {"gte": "2024"}}`:                          nil, // Of another type.
			`{"since": {"gte": "2026-01-01", "lte": "2026-12"}}`: {"shipping"},
			`{"since": {"exists": false}}`:                       {"refunds"},
			`{"since": {"exists": true}}`:                        {"shipping"},
			`{"public": true}`:                                   {"refunds"},
			`{"public": false}`:                                  nil,
			`{"team": "billing", "year": 2026}`:                  nil,
			`{"year": 2024}`:                                     {"refunds"},
			`{}`:                                                 {"refunds", "shipping"},
		} {
			f, err := retrieval.ParseFilter("/filter", []byte(filter))
			require.NoError(t, err, filter)
			seen := map[string]bool{}
			for _, h := range shelf.Ask(t, "money", f...) {
				seen[h.Key] = true
			}
			require.Len(t, seen, len(want), filter)
			for _, key := range want {
				require.True(t, seen[key], "%s: %s", filter, key)
			}
		}
	})

	t.Run("MoreThanAreRanked", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: shelf.Pipeline.Tenant})
		lines := make([]string, 1500)
		for i := range lines {
			lines[i] = fmt.Sprintf("common no%dth", i)
		}
		s.Add(t, retrieval.Document{Key: "a"}, strings.Join(lines, "\n"))
		require.Len(t, s.Ask(t, "common"), 10)
		require.Equal(t, "common no1444th", s.Ask(t, "the common no1444th is sought")[0].Text, "rare words count most")
	})

	t.Run("ByBothWaysAtOneMoment", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: shelf.Pipeline.Tenant, Embedding: &Model})
		document := s.Put(t, "a", "one\ntwo")
		s.Cut(t, document, "one\ntwo")
		s.Embed(t, document, 1, []float32{1, 0, 0}, []float32{1, 1, 0})
		_, err := d.Store.FinishDocument(t.Context(), document.Ref())
		require.NoError(t, err)
		hits, err := d.Store.SearchIndex(t.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
			Pipeline: s.Pipeline.ID, Text: "two", Vector: []float32{5, 0, 0}, Generation: 1, Limit: 1,
		})
		require.NoError(t, err)
		require.Equal(t, []string{"two"}, Texts(hits.Text))
		require.Equal(t, []string{"one"}, Texts(hits.Vector))
		require.InDelta(t, 1, hits.Vector[0].Score, 1e-6)
	})

	t.Run("ADisabledPipelineAnswersNothing", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: shelf.Pipeline.Tenant, Disabled: true})
		_, err := d.Store.SearchIndex(t.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
			Pipeline: s.Pipeline.ID, Text: "x",
		})
		RequireKind(t, tool.Conflict, err)
		require.ErrorContains(t, err, "disabled")
	})
}

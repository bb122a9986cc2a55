package toolsearch_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/toolsearch"
)

func shop() []toolsearch.Document {
	return []toolsearch.Document{
		{Name: "cancelOrder", Title: "Cancel an order", Description: "Cancels an order that was not sent yet."},
		{Name: "getOrder", Title: "Get an order", Description: "Returns one order with its lines and payments."},
		{Name: "listPolicies", Title: "List policies", Description: "Lists the policies for returns."},
		{Name: "refundOrder", Title: "Refund an order", Description: "Pays money back to a customer."},
		{Name: "sendMail", Title: "Send mail", Description: "Sends a message.", Words: []string{"recipient", "subject", "refund"}},
		{Name: "HTTPFetch", Title: "Fetch", Description: "Fetches a page of the web."},
	}
}

// The tool that a query is about comes first; words of names count for more than those of prose and schemas.
func TestRanking(t *testing.T) {
	t.Parallel()

	documents := shop()
	ix := toolsearch.New(documents)
	for query, want := range map[string]string{
		"refund":                    "refundOrder",
		"give money back":           "refundOrder",
		"getorder":                  "getOrder",
		"get_order":                 "getOrder",
		"an order":                  "cancelOrder",
		"recipients":                "sendMail",
		"policy":                    "listPolicies",
		"pay":                       "refundOrder",
		"http":                      "HTTPFetch",
		"fetching, of: the WEB?":    "HTTPFetch",
		"cancel the order please":   "cancelOrder",
		"message to the recipient!": "sendMail",
	} {
		hits, found := ix.Search(query, 3)
		require.NotEmpty(t, hits, query)
		require.GreaterOrEqual(t, found, len(hits))
		require.Equal(t, want, documents[hits[0].Document].Name, query)
	}
	for _, query := range []string{"", " ", "?!", "zebra", "x"} {
		hits, found := ix.Search(query, 3)
		require.Empty(t, hits, query)
		require.Zero(t, found)
	}
}

// Names, texts and options of a schema are words, at any depth, each once.
func TestSchemaWords(t *testing.T) {
	t.Parallel()

	require.Equal(t, []string{"amount", "cent", "city", "express", "home", "line", "parcel", "street"},
		toolsearch.SchemaWords(json.RawMessage(`{"type":"object","properties":{
			"amountCents":{"type":"integer"},
			"lines":{"type":"array","items":{"type":"object","properties":{"parcel":{"title":"Parcel"}}}},
			"home":{"anyOf":[{"properties":{"street":{},"city":{"description":"city"}}},{"type":"null"}]},
			"way":{"enum":["express",7]}}}`))[:8])
	require.Nil(t, toolsearch.SchemaWords(json.RawMessage(`{`)))
	require.Empty(t, toolsearch.SchemaWords(json.RawMessage(`true`)))
}

// Whatever is indexed and asked: each tool is found by its own name, first, and results are ordered, each once.
func TestSearchFindsEachByItsName(t *testing.T) {
	t.Parallel()

	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]byte, 1+random.IntN(6))
		for i := range letters {
			letters[i] = "aeiostlnüß"[random.IntN(12)]
		}
		return string(letters)
	}
	for range 200 {
		documents := make([]toolsearch.Document, 1+random.IntN(60))
		for i := range documents {
			documents[i] = toolsearch.Document{
				Name: "a" + word() + strings.ToUpper(word()) + strconv.Itoa(i), Description: word() + " " + word() + "-" + word(),
			}
		}
		ix := toolsearch.New(documents)
		for i := range documents {
			hits, _ := ix.Search(documents[i].Name, len(documents))
			require.Equal(t, i, hits[0].Document, documents[i].Name)
		}
		hits, found := ix.Search(word()+" "+word()+" "+word(), len(documents))
		require.Len(t, hits, found)
		seen := map[int]bool{}
		for j, h := range hits {
			require.False(t, seen[h.Document])
			require.Positive(t, h.Score)
			require.True(t, j == 0 || h.Score <= hits[j-1].Score)
			seen[h.Document] = true
		}
	}
}

// An index of long words weighs what they take.
func TestSizesAreBytes(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 4000)
	short := toolsearch.New([]toolsearch.Document{{Name: "a", Words: []string{"b"}}})
	heavy := toolsearch.New([]toolsearch.Document{{Name: "a", Description: long, Words: []string{long + "y"}}})
	require.Less(t, short.Size(), 300)
	require.Greater(t, heavy.Size(), 8000)
	require.Greater(t, toolsearch.SizeOf([]string{long}), 4000)
}

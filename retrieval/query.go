package retrieval

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of queries.
const (
	DefaultLimit  = 5
	MaxLimit      = 50
	MaxQueryChars = 2000
	MaxExclude    = 10  // Phrases.
	MaxPhrase     = 200 // Characters of one of those.
)

// Query is a query of a pipeline.
type Query struct {
	// Text is the query, as words or a question. In a search by words, double quotes mark a
	// phrase of adjacent words. There is no other syntax: "--dlq-type" and "-source" are
	// words.
	Text string
	// Exclude lists phrases, or words, that no hit may contain, in any mode; at most
	// [MaxExclude] of [MaxPhrase] characters.
	Exclude []string
	// Limit is the maximum number of hits: [DefaultLimit] when zero, at most [MaxLimit].
	Limit int
	// Mode defaults to the pipeline's.
	Mode Mode
	// Filter is a filter on documents.
	Filter Filter
	// Local refuses to embed the text, which would send it to the pipeline's model: for
	// calls of a tool with egress class none.
	Local bool
	// MinScore excludes hits with a lower score. Scores depend on the mode: see [Hit].
	MinScore float64
}

// Hit is a passage in the result of a query.
type Hit struct {
	Chunk
	DocumentKey string
	Title       string // The document's.
	Source      string
	Metadata    Metadata
	// Score is higher for better hits: the rank by words, the cosine by vector, or the sum
	// of reciprocal ranks of both.
	Score float64
	// TextRank and VectorRank are its ranks in each mode, from 1; 0 for none.
	TextRank   int
	VectorRank int
}

// Answer is the result of a query.
type Answer struct {
	Pipeline Pipeline
	Mode     Mode  // The search mode.
	Hits     []Hit // Best first; equal scores in the order of chunk ids.
}

// Searcher answers queries. It is safe for concurrent use.
type Searcher interface {
	// Search searches a tenant's pipeline, by its slug or id.
	//
	// It fails with [tool.NotFound] for a pipeline that is not the tenant's, [tool.Invalid]
	// for a malformed query, [tool.Conflict] for a pipeline that is disabled or cannot be
	// searched in that mode, and like the [Embedder].
	Search(ctx context.Context, tenant tool.TenantID, pipeline string, q Query) (Answer, error)
}

var excludedPhrase = regexp.MustCompile(`(^|\s)-"([^"]*)"`)

// CutExclusions removes each -"phrase" from a query's text and returns the rest and the phrases,
// for [Query.Exclude]. The minus must be at the start or after a blank.
func CutExclusions(text string) (rest string, exclude []string) {
	for _, found := range excludedPhrase.FindAllStringSubmatch(text, -1) {
		if phrase := strings.TrimSpace(found[2]); phrase != "" {
			exclude = append(exclude, phrase)
		}
	}
	return excludedPhrase.ReplaceAllString(text, "$1"), exclude
}

// Check sets the query's defaults and checks it. It fails with [tool.Invalid] and the JSON Pointer
// of the fault.
func (q *Query) Check() error {
	q.Text = strings.TrimSpace(q.Text)
	switch {
	case q.Text == "":
		return invalid("/query", "want the query, as words or a question")
	case !utf8.ValidString(q.Text) || strings.ContainsRune(q.Text, 0):
		return invalid("/query", "want UTF-8 without the NUL character")
	case utf8.RuneCountInString(q.Text) > MaxQueryChars:
		return invalid("/query", "the query has %d characters: want at most %d", utf8.RuneCountInString(q.Text),
			MaxQueryChars)
	case q.Limit < 0 || q.Limit > MaxLimit:
		return invalid("/limit", "limit is %d: want 1 to %d, or 0 for %d", q.Limit, MaxLimit, DefaultLimit)
	case q.Mode != "" && q.Mode != FullText && !q.Mode.Embeds():
		return invalid("/mode", "mode %.40q is unknown: want full_text, vector or hybrid", string(q.Mode))
	}
	if len(q.Exclude) > MaxExclude {
		return invalid("/exclude", "%d phrases: want at most %d", len(q.Exclude), MaxExclude)
	}
	for i, phrase := range q.Exclude {
		if strings.TrimSpace(phrase) == "" || !fits(phrase, MaxPhrase) {
			return invalid(fmt.Sprintf("/exclude/%d", i), "want a word or a phrase, of at most %d characters of UTF-8",
				MaxPhrase)
		}
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	return q.Filter.Check("/filter")
}

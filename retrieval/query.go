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

// Query asks a pipeline.
type Query struct {
	// Text is what is sought, in words or as a question. By words, what stands in
	// double quotes is a phrase: its words are next to each other. Nothing else
	// has a meaning: "--dlq-type" and "-source" are words.
	Text string
	// Exclude is phrases, or words, that no hit may hold, whatever the mode; at
	// most [MaxExclude] of [MaxPhrase] characters.
	Exclude []string
	// Limit is how many hits are wanted: [DefaultLimit] when zero, at most
	// [MaxLimit].
	Limit int
	// Mode defaults to the pipeline's.
	Mode Mode
	// Filter is what documents must fulfil.
	Filter Filter
	// Local refuses to embed the text, which sends it to the pipeline's model: the
	// query is a call's whose tool has the egress class none.
	Local bool
	// MinScore leaves out hits whose score is less. What scores mean depends on
	// the mode: see [Hit].
	MinScore float64
}

// Hit is a passage that was found.
type Hit struct {
	Chunk
	DocumentKey string
	Title       string // The document's.
	Source      string
	Metadata    Metadata
	// Score is the greater the better: the rank by words, the cosine by meaning,
	// or the sum of reciprocal ranks of both.
	Score float64
	// TextRank and VectorRank are where each way found it, from 1; 0 for not.
	TextRank   int
	VectorRank int
}

// Answer is what a pipeline has to say to a query.
type Answer struct {
	Pipeline Pipeline
	Mode     Mode  // How it was searched.
	Hits     []Hit // Best first; equal scores in the order of chunk ids.
}

// Searcher answers queries. It is safe for concurrent use.
type Searcher interface {
	// Search asks a tenant's pipeline, by its slug or id.
	//
	// It fails with [tool.NotFound] for a pipeline that is not the tenant's,
	// [tool.Invalid] for a query that is malformed, [tool.Conflict] for a pipeline
	// that is disabled or can't be searched that way, and as the [Embedder] does.
	Search(ctx context.Context, tenant tool.TenantID, pipeline string, q Query) (Answer, error)
}

var excludedPhrase = regexp.MustCompile(`(^|\s)-"([^"]*)"`)

// CutExclusions cuts each -"phrase" out of a query's text and returns the rest,
// and the phrases, which are meant for [Query.Exclude]. The minus stands at the
// beginning or behind a blank.
func CutExclusions(text string) (rest string, exclude []string) {
	for _, found := range excludedPhrase.FindAllStringSubmatch(text, -1) {
		if phrase := strings.TrimSpace(found[2]); phrase != "" {
			exclude = append(exclude, phrase)
		}
	}
	return excludedPhrase.ReplaceAllString(text, "$1"), exclude
}

// Check fills in the query's defaults and reports what is wrong with it, as
// [tool.Invalid] with the JSON Pointer of the fault.
func (q *Query) Check() error {
	q.Text = strings.TrimSpace(q.Text)
	switch {
	case q.Text == "":
		return invalid("/query", "want what is sought, in words or as a question")
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

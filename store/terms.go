package store

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// maxTerms bounds the words that a query is weighed by.
const maxTerms = 32

// terms is what a query asks for, as PostgreSQL reads it: the text of tsqueries
// whose lexemes begin with the pipeline's prefix.
type terms struct {
	strict   string   // All of it, with its phrases and alternatives.
	words    []string // Each lexeme that it asks for, quoted.
	excluded string   // What it must not hold, as the end of a tsquery; empty for nothing.
}

var (
	lexemePattern   = regexp.MustCompile(`'(?:[^']|'')*'`)
	excludedPattern = regexp.MustCompile(`!(?:'(?:[^']|'')*'|\( (?:'(?:[^']|'')*'|<(?:-|\d+)>| )+ \))`)
)

// readTerms reads the text of a tsquery that websearch_to_tsquery made.
func readTerms(strict string) terms {
	t := terms{strict: strict}
	for _, not := range excludedPattern.FindAllString(strict, -1) {
		t.excluded += " & " + not
	}
	for _, word := range lexemePattern.FindAllString(excludedPattern.ReplaceAllString(strict, ""), -1) {
		if !slices.Contains(t.words, word) && len(t.words) < maxTerms {
			t.words = append(t.words, word)
		}
	}
	return t
}

// sought returns the tsquery of chunks that hold all of it. "a or -b" would have
// every row of the table looked at, other tenants' too, whatever it holds:
// chunks hold one of the words that are asked for in any case.
func (t terms) sought() string {
	if !strings.Contains(t.strict, "!") {
		return t.strict
	}
	return "(" + t.strict + ") & (" + strings.Join(t.words, " | ") + ")"
}

// wordCount is a word of a query and how many chunks hold it.
type wordCount struct {
	word  string
	count int32
}

// anyOf returns the tsquery of chunks that hold one of the rarest words: as many
// of them as there are no more candidates than wanted, and at least one.
func (t terms) anyOf(counts []wordCount, candidates int32) string {
	slices.SortStableFunc(counts, func(a, b wordCount) int { return cmp.Compare(a.count, b.count) })
	var words []string
	left := candidates
	for _, c := range counts {
		if c.count == 0 {
			continue
		}
		if len(words) > 0 && c.count > left {
			break
		}
		words = append(words, c.word)
		left -= c.count
	}
	if len(words) == 0 {
		return ""
	}
	return "(" + strings.Join(words, " | ") + ")" + t.excluded
}

// weights returns each word's share of the query's weight: the rarer a word, the
// more it tells. Counts go up to a limit only, beyond which words tell alike.
func weights(counts []wordCount, most int32) (words []string, shares []float64) {
	total := 0.0
	for _, c := range counts {
		share := math.Log(1 + float64(most)/(float64(c.count)+1))
		words, shares = append(words, c.word), append(shares, share)
		total += share
	}
	for i := range shares {
		shares[i] /= total
	}
	return words, shares
}

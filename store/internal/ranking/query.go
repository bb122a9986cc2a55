// Package ranking ranks passages by the words in them, from the postings of an inverted
// index. It scores every posting of a query's words, so the result is exact. See
// [Ranker.Top] for the score.
package ranking

import (
	"slices"
	"strconv"
	"strings"
)

// Item is a part of a query: a word as it was typed, or a phrase.
type Item struct {
	Text   string
	Phrase bool // Its words must be adjacent.
}

// Split splits a query into words, at blanks, and phrases, between double quotes. A
// quote that is not closed is part of a word. There is no other syntax.
func Split(text string) []Item {
	var items []Item
	words := func(s string) {
		for word := range strings.FieldsSeq(s) {
			items = append(items, Item{Text: word})
		}
	}
	for {
		before, rest, ok := strings.Cut(text, `"`)
		phrase, after, closed := strings.Cut(rest, `"`)
		if !ok || !closed {
			words(text)
			return items
		}
		words(before)
		if strings.TrimSpace(phrase) != "" {
			items = append(items, Item{Text: phrase, Phrase: true})
		}
		text = after
	}
}

// Reading is an item as the index normalizes it.
type Reading struct {
	Whole []string // The identifiers in it, whole.
	Plain []string // Its words in the form that they are indexed in, each with its place before it: "3 retri".
	Parts []string // The same of its words cut into parts, "retryCount" say.
}

// Query is a compiled query.
type Query struct {
	words    []string // Distinct; all words to read from the index.
	wanted   int      // The first ones, which count towards the score.
	required []bool   // Of the wanted words: it counts towards the share even if no passage holds it.
	whole    []bool   // Of the wanted words: it is an identifier, whole. What is neither is a part of a word.
	groups   []group
	excluded []sequence
}

// group is one item of a query: alternative sequences of words.
type group struct {
	phrase bool
	either []sequence
}

// sequence is words with their distances from the first.
type sequence struct {
	words   []int // Indexes of Query.words.
	offsets []int
}

// NewQuery returns a query for items, with their readings, and for excluded phrases.
func NewQuery(items []Item, readings, excluded []Reading) *Query {
	q := &Query{}
	for i, r := range readings {
		plain, parts := q.sequence(r.Plain), q.sequence(r.Parts)
		for _, word := range plain.words {
			q.required = grown(q.required, word+1)
			q.required[word] = true
		}
		var whole sequence
		for _, word := range r.Whole {
			i := q.word(word)
			whole.words, whole.offsets = append(whole.words, i), append(whole.offsets, 0)
			q.whole = grown(q.whole, i+1)
			q.whole[i] = true
		}
		switch {
		case len(plain.words) == 0 && len(whole.words) == 0: // Stop words only.
		case len(plain.words) == 0:
			q.groups = append(q.groups, group{either: []sequence{whole}})
		case len(parts.words) == 0 || slices.Equal(r.Plain, r.Parts):
			q.groups = append(q.groups, group{items[i].Phrase, []sequence{plain}})
		default:
			q.groups = append(q.groups, group{items[i].Phrase, []sequence{plain, parts}})
		}
	}
	q.wanted = len(q.words)
	q.required, q.whole = grown(q.required, q.wanted), grown(q.whole, q.wanted)
	for _, r := range excluded {
		for _, s := range []sequence{q.sequence(r.Plain), q.sequence(r.Parts)} {
			if len(s.words) > 0 {
				q.excluded = append(q.excluded, s)
			}
		}
	}
	return q
}

// Words returns the words whose postings are needed; none for an empty query.
func (q *Query) Words() []string { return q.words }

// Excludes reports whether the query excludes passages.
func (q *Query) Excludes() bool { return len(q.excluded) > 0 }

// Empty reports whether the query has no words.
func (q *Query) Empty() bool { return q.wanted == 0 }

func (q *Query) word(text string) int {
	if i := slices.Index(q.words, text); i >= 0 {
		return i
	}
	q.words = append(q.words, text)
	return len(q.words) - 1
}

// sequence parses words with their places.
func (q *Query) sequence(placed []string) sequence {
	var s sequence
	first := 0
	for i, text := range placed {
		number, word, _ := strings.Cut(text, " ")
		place, err := strconv.Atoi(number)
		if err != nil {
			continue // The index gives each a number.
		}
		if i == 0 {
			first = place
		}
		s.words, s.offsets = append(s.words, q.word(word)), append(s.offsets, place-first)
	}
	return s
}

func grown(all []bool, n int) []bool {
	for len(all) < n {
		all = append(all, false)
	}
	return all
}

package ranking

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Parameters of the score.
const (
	saturation = 1.2  // Term frequency saturation (BM25 k1).
	lengthBias = 0.75 // Length normalization (BM25 b).
	lengthStep = 8    // Words in a class of lengths.
	nearness   = 0.2  // The share of nearness in the score of passages that hold all.
	maxWanted  = 64   // Words that are ranked by: the rarest.
)

// Statistics are the statistics of an index.
type Statistics struct {
	Passages int64
	Length   int64            // Of all passages together, in words.
	Counts   map[string]int64 // How many passages hold a word; those that none holds may be missing.
}

// Passage is a ranked passage.
type Passage struct {
	Document int64 // Its number in the index.
	Position int
	Score    float64
}

// Ranker ranks the passages of an index from its postings, block by block.
type Ranker struct {
	query   *Query
	limit   int
	allowed map[int64]bool // Documents; nil for all.

	weights  []float64 // Of the query's words: 0 for those without a score.
	total    float64
	bits     []uint64      // Of each word in the mask of what a passage holds.
	scored   uint64        // Of the words that have a weight.
	groups   []groupMask   // Of the query's groups.
	norms    [256]float64  // By class of length.
	sums     []sum         // By position, of the document at hand.
	touched  []int         // Positions of those.
	walked   int           // Entries that find has read.
	held     []bool        // By word: the current passage has it.
	places   [][]int       // Places of those.
	top      []Passage     // The best first.
	excluded func(Passage) // Called for passages that are left out; nil in a ranking.
}

// groupMask is a group as bits: the alternatives, each a mask of words.
type groupMask struct {
	masks    []uint64
	possible []bool
}

// NewRanker returns a ranker for the best passages of the allowed documents; nil allows
// all.
func NewRanker(q *Query, stats Statistics, allowed map[int64]bool, limit int) *Ranker {
	r := &Ranker{
		query: q, limit: limit, allowed: allowed, weights: make([]float64, len(q.words)), bits: make([]uint64, len(q.words)),
		held: make([]bool, len(q.words)), places: make([][]int, len(q.words)),
	}
	var known []int
	needed := q.neededParts(stats)
	for i := range q.wanted {
		count := float64(stats.Counts[q.words[i]])
		weight := math.Log(1 + (float64(stats.Passages)-min(count, float64(stats.Passages))+0.5)/(count+0.5))
		if count > 0 {
			known = append(known, i)
		}
		if count > 0 && needed[i] {
			r.weights[i] = weight
		}
		if count > 0 && needed[i] || q.required[i] {
			r.total += weight
		}
	}
	slices.SortStableFunc(known, func(a, b int) int { return cmp.Compare(r.weights[b], r.weights[a]) })
	for bit, i := range known {
		if bit < maxWanted {
			r.bits[i] = 1 << bit
			if r.weights[i] > 0 {
				r.scored |= r.bits[i]
			}
		} else {
			r.weights[i] = 0
		}
	}
	for _, g := range q.groups {
		r.groups = append(r.groups, r.mask(g, stats))
	}
	average := max(1, float64(stats.Length)/max(1, float64(stats.Passages)))
	for class := range r.norms {
		r.norms[class] = saturation * (1 - lengthBias + lengthBias*(float64(class)+0.5)*lengthStep/average)
	}
	return r
}

// neededParts reports which of the wanted words count: words and whole identifiers
// always, parts of a word only if no passage has the word itself.
func (q *Query) neededParts(stats Statistics) []bool {
	needed := make([]bool, q.wanted)
	for i := range needed {
		needed[i] = q.required[i] || q.whole[i]
	}
	for _, g := range q.groups {
		plain := g.either[0]
		if len(g.either) < 2 || !slices.ContainsFunc(plain.words, func(i int) bool { return stats.Counts[q.words[i]] == 0 }) {
			continue
		}
		for _, i := range g.either[1].words {
			needed[i] = true
		}
	}
	return needed
}

func (r *Ranker) mask(g group, stats Statistics) groupMask {
	var m groupMask
	for _, s := range g.either {
		mask, possible := uint64(0), true
		for _, word := range s.words {
			mask |= r.bits[word]
			possible = possible && stats.Counts[r.query.words[word]] > 0
		}
		m.masks, m.possible = append(m.masks, mask), append(m.possible, possible)
	}
	return m
}

// NewExclusion returns a ranker that calls fn with each passage that the query excludes,
// and ranks nothing.
func NewExclusion(q *Query, fn func(Passage)) *Ranker {
	r := NewRanker(q, Statistics{}, nil, 0)
	r.excluded = fn
	return r
}

// Top returns the best passages in order. Of passages with equal scores, the one indexed
// first comes first.
//
// A passage that has some of the query's words has a score up to 1: its share of the
// query's weight (BM25). Rare words weigh more; repeated words, words in titles and
// headings and short passages score higher. A passage that matches all items has a score
// above 1, which grows with the proximity of the words.
func (r *Ranker) Top() []Passage { return r.top }

// Block ranks the passages of a block. postings has an element for each word of the
// query, empty where the block has none, and is not retained. Block fails when ctx ends.
func (r *Ranker) Block(ctx context.Context, postings [][]byte) error {
	var open []*cursor
	for word, raw := range postings {
		c := &cursor{word: word, rest: inOrder(raw)}
		if c.nextDocument() {
			open = append(open, c)
		}
	}
	var here []*cursor
	for len(open) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		document := open[0].document
		for _, c := range open[1:] {
			document = min(document, c.document)
		}
		here = here[:0]
		for _, c := range open {
			if c.document == document {
				here = append(here, c)
			}
		}
		switch {
		case r.excluded != nil:
			r.exclude(document, here)
		case r.allowed == nil || r.allowed[document]:
			r.document(document, here)
		}
		left := open[:0]
		for _, c := range open {
			if c.document > document || c.nextDocument() {
				left = append(left, c)
			}
		}
		open = left
	}
	return nil
}

// sum accumulates the score of a passage.
type sum struct {
	weight float64
	mask   uint64
}

// document ranks the passages of a document that have a scored word. First all postings
// are summed, word by word; most passages need nothing else.
func (r *Ranker) document(document int64, cursors []*cursor) {
	r.touched = r.touched[:0]
	for _, c := range cursors {
		bit, weight := r.bits[c.word], r.weights[c.word]
		if bit == 0 {
			continue
		}
		for rest := c.entries; len(rest) >= entryHeader; {
			var e entry
			e, rest = cutEntry(rest)
			if e.position >= len(r.sums) {
				r.sums = append(r.sums, make([]sum, e.position+1-len(r.sums))...)
			}
			s := &r.sums[e.position]
			if s.mask == 0 {
				r.touched = append(r.touched, e.position)
			}
			s.mask |= bit
			n := 1.0
			if len(e.places) != placeSize || e.places[0] >= inHeadings>>8 {
				n = e.frequency()
			}
			s.weight += weight * n / (n + r.norms[e.length])
		}
	}
	slices.Sort(r.touched) // As find wants them.
	for _, position := range r.touched {
		s := r.sums[position]
		r.sums[position] = sum{}
		if s.mask&r.scored != 0 {
			r.passage(Passage{Document: document, Position: position, Score: s.weight / r.total}, s.mask, cursors)
		}
	}
}

// passage ranks a passage of a document, at which cursors stand.
func (r *Ranker) passage(p Passage, mask uint64, cursors []*cursor) {
	holdsAll := r.mayHoldAll(mask)
	if len(r.top) == r.limit {
		most := p
		if holdsAll {
			most.Score = whole(p.Score, 1)
		}
		if r.limit == 0 || byRank(most, r.top[r.limit-1]) > 0 {
			return
		}
	}
	if holdsAll || len(r.query.excluded) > 0 {
		r.find(p.Position, cursors)
	}
	if holdsAll {
		if near, ok := r.near(mask); ok {
			p.Score = whole(p.Score, near)
		}
	}
	if !r.excludes() {
		r.keep(p)
	}
}

// whole returns the score of a passage that matches all items.
func whole(share, near float64) float64 { return 1 + (1-nearness)*share + nearness*near }

// exclude reports the excluded passages of a document.
func (r *Ranker) exclude(document int64, cursors []*cursor) {
	r.touched = r.touched[:0]
	for _, c := range cursors {
		for rest := c.entries; len(rest) >= entryHeader; {
			var e entry
			e, rest = cutEntry(rest)
			r.touched = append(r.touched, e.position)
		}
	}
	slices.Sort(r.touched)
	r.touched = slices.Compact(r.touched)
	for _, position := range r.touched {
		r.find(position, cursors)
		if r.excludes() {
			r.excluded(Passage{Document: document, Position: position})
		}
	}
}

// byRank orders passages by rank.
func byRank(a, b Passage) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Position, b.Position))
}

// keep inserts a passage into the best ones.
func (r *Ranker) keep(p Passage) {
	if at, _ := slices.BinarySearchFunc(r.top, p, byRank); at < r.limit {
		r.top = slices.Insert(r.top, at, p)[:min(len(r.top)+1, r.limit)]
	}
}

// mayHoldAll reports whether a passage with the words of a mask matches all groups,
// ignoring the order of words in phrases.
func (r *Ranker) mayHoldAll(mask uint64) bool {
	for i := range r.groups {
		g := &r.groups[i]
		held := false
		for j, m := range g.masks {
			held = held || g.possible[j] && mask&m == m
		}
		if !held {
			return false
		}
	}
	return true
}

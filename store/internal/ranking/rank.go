package ranking

import (
	"cmp"
	"math"
	"slices"
)

// Parameters of the score.
const (
	saturation = 1.2  // How soon further mentions of a word stop counting.
	lengthBias = 0.75 // How much the length of a passage counts.
	lengthStep = 8    // Words in a class of lengths.
	nearness   = 0.2  // The share of nearness in the score of passages that hold all.
	maxWanted  = 64   // Words that are ranked by: the rarest.
)

// Statistics is what is known of an index beside its postings.
type Statistics struct {
	Passages int64
	Length   int64            // Of all passages together, in words.
	Counts   map[string]int64 // How many passages hold a word; those that none holds may be missing.
}

// Passage is one that was ranked.
type Passage struct {
	Document int64 // Its number in the index.
	Position int
	Score    float64
}

// Ranker ranks the passages of an index, whose postings it is given block by
// block.
type Ranker struct {
	query   *Query
	limit   int
	allowed map[int64]bool // Documents; nil for all.

	weights  []float64 // Of the query's words: 0 of those that no score is made of.
	total    float64
	bits     []uint64      // Of each word in the mask of what a passage holds.
	groups   []groupMask   // Of the query's groups.
	norms    [256]float64  // By class of length.
	here     []*cursor     // Of words that the passage at hand holds.
	byWord   []*cursor     // The same by word; nil of others.
	places   [][]int       // Reused.
	top      []Passage     // The best first.
	excluded func(Passage) // Told of passages that are left out; nil in a ranking.
}

// groupMask is a group as bits: a sequence of it is held where all its bits are.
type groupMask struct {
	masks    []uint64
	possible []bool
}

// NewRanker returns a ranker for the best passages of documents that are allowed;
// nil allows all.
func NewRanker(q *Query, stats Statistics, allowed map[int64]bool, limit int) *Ranker {
	r := &Ranker{
		query: q, limit: limit, allowed: allowed, weights: make([]float64, len(q.words)), bits: make([]uint64, len(q.words)),
		byWord: make([]*cursor, len(q.words)), places: make([][]int, len(q.words)),
	}
	var known []int
	for i := range q.wanted {
		count := float64(stats.Counts[q.words[i]])
		weight := math.Log(1 + (float64(stats.Passages)-min(count, float64(stats.Passages))+0.5)/(count+0.5))
		if count > 0 {
			known = append(known, i)
			r.weights[i] = weight
		}
		if count > 0 || q.required[i] {
			r.total += weight
		}
	}
	slices.SortStableFunc(known, func(a, b int) int { return cmp.Compare(r.weights[b], r.weights[a]) })
	for bit, i := range known {
		if bit < maxWanted {
			r.bits[i] = 1 << bit
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

// NewExclusion returns a ranker that ranks nothing and calls fn with each passage
// that the query excludes.
func NewExclusion(q *Query, fn func(Passage)) *Ranker {
	r := NewRanker(q, Statistics{}, nil, 0)
	r.excluded = fn
	return r
}

// Top returns the best passages, the best first, and of equal ones those that
// were indexed first.
//
// A passage that holds some of the query's words has a score up to 1: the share
// of the query's weight that it holds. A word weighs the more, the fewer passages
// hold it, and counts the more, the more often it is there, in headings and titles
// above all, and the shorter the passage is (BM25). A passage that holds what all
// items ask for has a score above 1, which is the higher, the nearer the words
// stand to each other.
func (r *Ranker) Top() []Passage { return r.top }

// Block ranks the passages of a block. postings has an element for each word of
// the query, empty where the block has none. It is not kept.
func (r *Ranker) Block(postings [][]byte) {
	var open []*cursor
	for word, raw := range postings {
		c := &cursor{word: word, rest: inOrder(raw)}
		if c.nextDocument() {
			open = append(open, c)
		}
	}
	for len(open) > 0 {
		document := open[0].document
		for _, c := range open[1:] {
			document = min(document, c.document)
		}
		if r.allowed == nil || r.allowed[document] {
			r.document(document, open)
		}
		left := open[:0]
		for _, c := range open {
			if c.document > document || c.nextDocument() {
				left = append(left, c)
			}
		}
		open = left
	}
}

// document ranks the passages of a document, at which some cursors stand.
func (r *Ranker) document(document int64, open []*cursor) {
	var buffer [16]*cursor
	cursors := buffer[:0]
	for _, c := range open {
		if c.document == document {
			cursors = append(cursors, c)
		}
	}
	for len(cursors) > 0 {
		position := cursors[0].position
		for _, c := range cursors[1:] {
			position = min(position, c.position)
		}
		r.here = r.here[:0]
		for _, c := range cursors {
			if c.position == position {
				r.here = append(r.here, c)
			}
		}
		r.passage(Passage{Document: document, Position: position})
		left := cursors[:0]
		for _, c := range cursors {
			if c.position > position || c.nextPassage() {
				left = append(left, c)
			}
		}
		cursors = left
	}
}

// passage ranks a passage, which the cursors in r.here stand at.
func (r *Ranker) passage(p Passage) {
	if r.excluded != nil {
		r.find()
		if r.excludes() {
			r.excluded(p)
		}
		return
	}
	sum, mask := 0.0, uint64(0)
	for _, c := range r.here {
		if r.bits[c.word] == 0 {
			continue
		}
		n := 1.0
		if len(c.places) != placeSize || c.places[0] >= inHeadings>>8 {
			n = c.frequency()
		}
		sum += r.weights[c.word] * n / (n + r.norms[c.length])
		mask |= r.bits[c.word]
	}
	if mask == 0 {
		return
	}
	p.Score = sum / r.total
	holdsAll := r.mayHoldAll(mask)
	if most := p.Score; len(r.top) == r.limit {
		if holdsAll {
			most = 2 - (1-most)*(1-nearness)
		}
		if most < r.top[len(r.top)-1].Score {
			return
		}
	}
	r.find()
	if holdsAll {
		if near, ok := r.near(mask); ok {
			p.Score = 1 + (1-nearness)*p.Score + nearness*near
		}
	}
	if !r.excludes() {
		r.keep(p)
	}
}

// keep puts a passage where it belongs among the best.
func (r *Ranker) keep(p Passage) {
	at, _ := slices.BinarySearchFunc(r.top, p, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Position, b.Position))
	})
	if at < r.limit {
		r.top = slices.Insert(r.top, at, p)[:min(len(r.top)+1, r.limit)]
	}
}

// mayHoldAll reports whether a passage that holds the words of a mask holds what
// all groups ask for, apart from the order of words in phrases.
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

package ranking

import "slices"

// find finds the places of words in the passage at a position of the current document,
// at which cursors stand. Positions must be in ascending order: each cursor continues
// where it stopped, so that all passages of a document take one walk through its entries.
func (r *Ranker) find(position int, cursors []*cursor) {
	clear(r.held)
	for _, c := range cursors {
		for len(c.ahead) >= entryHeader {
			e, behind := cutEntry(c.ahead)
			if e.position > position {
				break
			}
			c.ahead = behind
			r.walked++
			if e.position == position {
				r.held[c.word] = true
				r.places[c.word] = e.appendPlaces(r.places[c.word][:0])
				break
			}
		}
	}
}

// excludes reports whether the current passage has an excluded phrase.
func (r *Ranker) excludes() bool {
	return slices.ContainsFunc(r.query.excluded, r.adjacent)
}

// near returns the proximity of the query's groups in the current passage, which has the
// words of mask: 1 where they are adjacent. It is not ok where a phrase is missing.
func (r *Ranker) near(mask uint64) (share float64, ok bool) {
	var words []int
	for i, g := range r.query.groups {
		m, held := &r.groups[i], -1
		for j, s := range slices.Backward(g.either) {
			if m.possible[j] && mask&m.masks[j] == m.masks[j] && (!g.phrase || r.adjacent(s)) {
				held = j
			}
		}
		if held < 0 {
			return 0, false
		}
		for _, word := range g.either[held].words {
			if r.held[word] && len(r.places[word]) > 0 && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	if len(words) < 2 {
		return 1, true
	}
	return min(1, float64(len(words))/float64(r.span(words))), true
}

// adjacent reports whether the current passage has a sequence's words in order and
// adjacent.
func (r *Ranker) adjacent(s sequence) bool {
	for _, word := range s.words {
		if !r.held[word] {
			return false
		}
	}
	for _, place := range r.places[s.words[0]] {
		held := true
		for i := 1; i < len(s.words) && held; i++ {
			_, held = slices.BinarySearch(r.places[s.words[i]], place+s.offsets[i])
		}
		if held {
			return true
		}
	}
	return false
}

// span returns the length of the shortest part of the current passage that has all of
// the words.
func (r *Ranker) span(words []int) int {
	at := make([]int, len(words))
	shortest := 0
	for {
		first, low, high := 0, r.places[words[0]][at[0]], 0
		for i, word := range words {
			place := r.places[word][at[i]]
			high = max(high, place)
			if place < low {
				first, low = i, place
			}
		}
		if length := high - low + 1; shortest == 0 || length < shortest {
			shortest = length
		}
		if at[first]++; at[first] == len(r.places[words[first]]) {
			return shortest
		}
	}
}

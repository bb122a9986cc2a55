// Package toolsearch finds tools by words: it ranks the tools of a catalogue by a query, over their names,
// descriptions and the words of their schemas. It is pure.
//
// The ranking is BM25 over fields of different weight. A word of the query matches words that begin with it
// too, for less.
package toolsearch

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Document is what is searched of a tool.
type Document struct {
	Name, Title, Description string
	Words                    []string // Of its schema: see [SchemaWords].
}

// Hit is a document that a query finds.
type Hit struct {
	Document int // Its index among those of [New].
	Score    float64
}

// Weights of the fields, for each occurrence of a word.
const (
	nameWeight   = 5
	titleWeight  = 3
	proseWeight  = 1
	schemaWeight = 0.5
	prefixWeight = 0.4 // Of a word that only begins with the query's.
)

// Parameters of BM25, with their usual values.
const (
	saturation = 1.2
	lengthNorm = 0.75
)

// Bounds.
const (
	maxQueryWords = 32
	maxProse      = 4 << 10 // Bytes of a description that are read.
	minPrefix     = 3
	maxPrefixes   = 64 // Words of the catalogue that one of the query stands for.
)

// posting is a word in a document.
type posting struct {
	document int32
	weight   float32
}

// Index is a searchable catalogue. It is immutable, and safe for concurrent use.
type Index struct {
	names    []string // Of the documents, as [plain] has them.
	lengths  []float32
	average  float64
	postings map[string][]posting
	words    []string // Of the postings, sorted.
	size     int      // Of all postings.
}

// New returns an index of documents.
func New(documents []Document) *Index {
	ix := &Index{
		names: make([]string, len(documents)), lengths: make([]float32, len(documents)), postings: map[string][]posting{},
	}
	total := 0.0
	for i := range documents {
		d := &documents[i]
		ix.names[i] = plain(d.Name)
		weights := map[string]float32{}
		for _, w := range Words(d.Name) {
			weights[w] += nameWeight
		}
		for _, w := range Words(d.Title) {
			weights[w] += titleWeight
		}
		for _, w := range Words(d.Description[:min(len(d.Description), maxProse)]) {
			weights[w] += proseWeight
		}
		for _, w := range d.Words {
			weights[w] += schemaWeight
		}
		for w, weight := range weights {
			ix.postings[w] = append(ix.postings[w], posting{int32(i), weight})
			ix.lengths[i] += weight
			ix.size++
		}
		total += float64(ix.lengths[i])
	}
	ix.average = max(total/float64(max(len(documents), 1)), 1)
	for w := range ix.postings {
		ix.words = append(ix.words, w)
	}
	slices.Sort(ix.words)
	return ix
}

// Sizes of what an index holds, in bytes.
const (
	postingSize = 8
	// overhead is about what a text takes beside its bytes: its header, and its place in a table.
	overhead = 48
)

// Size is about how much memory the index takes, in bytes.
func (ix *Index) Size() int { return ix.size*postingSize + SizeOf(ix.names) + SizeOf(ix.words) }

// SizeOf is about how much memory words take, in bytes.
func SizeOf(words []string) int {
	size := 0
	for _, w := range words {
		size += len(w) + overhead
	}
	return size
}

// Search returns the best documents for a query, best first, at most limit of them, and how many it finds. Of
// equal ones, that with the lower index is first. A document that has the query as its name is the best.
func (ix *Index) Search(query string, limit int) (best []Hit, found int) {
	scores := map[int32]float64{}
	seen := map[string]bool{}
	for _, w := range Words(query) {
		if seen[w] || len(seen) == maxQueryWords {
			continue
		}
		seen[w] = true
		ix.score(w, scores)
	}
	exact := plain(query)
	for i, name := range ix.names {
		if name == exact && exact != "" {
			scores[int32(i)] += 1e6
		}
	}
	for d, s := range scores {
		best = append(best, Hit{int(d), s})
	}
	slices.SortFunc(best, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document))
	})
	return best[:min(limit, len(best))], len(best)
}

// score adds what a word of the query counts for. Each document counts the best of the words that it stands
// for.
func (ix *Index) score(word string, scores map[int32]float64) {
	best := map[int32]float64{}
	for _, w := range ix.matches(word) {
		postings := ix.postings[w]
		n, df := float64(len(ix.names)), float64(len(postings))
		factor := math.Log(1 + (n-df+0.5)/(df+0.5))
		if w != word {
			factor *= prefixWeight
		}
		for _, p := range postings {
			tf := float64(p.weight)
			norm := saturation * (1 - lengthNorm + lengthNorm*float64(ix.lengths[p.document])/ix.average)
			best[p.document] = max(best[p.document], factor*tf*(saturation+1)/(tf+norm))
		}
	}
	for d, s := range best {
		scores[d] += s
	}
}

// matches returns the words of the catalogue that a word stands for.
func (ix *Index) matches(word string) []string {
	from, exact := slices.BinarySearch(ix.words, word)
	if len(word) < minPrefix {
		if exact {
			return ix.words[from : from+1]
		}
		return nil
	}
	to := from
	for to < len(ix.words) && to-from < maxPrefixes && strings.HasPrefix(ix.words[to], word) {
		to++
	}
	return ix.words[from:to]
}

// plain returns the letters and digits of a text, in lower case.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// Words returns the words of a text, in lower case and without the s of a plural. Names such as lookUpBalance
// and look_up_balance are three words.
func Words(text string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, singular(strings.ToLower(string(word))))
			word = word[:0]
		}
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case len(word) > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(word[len(word)-1]) ||
			i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end() // fooBar, and the last capital of HTTPClient.
		}
		word = append(word, r)
	}
	end()
	return out
}

func singular(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return word[:len(word)-1]
	}
	return word
}

// Bounds of the words of a schema.
const (
	maxSchemaWords = 400
	maxSchemaDepth = 16
)

// SchemaWords returns the words of the names, titles, descriptions and options of a schema's properties, each
// once.
func SchemaWords(schema json.RawMessage) []string {
	var doc any
	if json.Unmarshal(schema, &doc) != nil {
		return nil
	}
	w := schemaWords{seen: map[string]bool{}}
	w.read(doc, 0)
	slices.Sort(w.words)
	return w.words
}

type schemaWords struct {
	seen  map[string]bool
	words []string
}

func (s *schemaWords) add(text string) {
	for _, w := range Words(text[:min(len(text), maxProse)]) {
		if len(s.words) < maxSchemaWords && !s.seen[w] {
			s.seen[w] = true
			s.words = append(s.words, w)
		}
	}
}

func (s *schemaWords) read(node any, depth int) {
	object, ok := node.(map[string]any)
	if !ok || depth > maxSchemaDepth {
		return
	}
	for _, key := range []string{"title", "description"} {
		if text, ok := object[key].(string); ok {
			s.add(text)
		}
	}
	if options, ok := object["enum"].([]any); ok {
		for _, o := range options {
			if text, ok := o.(string); ok {
				s.add(text)
			}
		}
	}
	if properties, ok := object["properties"].(map[string]any); ok {
		for _, name := range sortedKeys(properties) {
			s.add(name)
			s.read(properties[name], depth+1)
		}
	}
	s.read(object["items"], depth+1)
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if branches, ok := object[key].([]any); ok {
			for _, b := range branches {
				s.read(b, depth+1)
			}
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

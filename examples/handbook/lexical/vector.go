package lexical

import (
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// Dimensions of vectors.
const (
	DefaultDimensions = 512
	MinDimensions     = 8
	MaxDimensions     = 4096
)

// Weights of what a text is made of. A word counts as much as some of its
// parts together, so that the whole word beats what only looks like it.
const (
	wordWeight = 1.0
	partWeight = 0.35
	partLength = 4
)

// common are words that say nothing of what a text is about.
var common = wordSet(`a about after all also am an and any are as at be been before but by can could did do does for from get had
	has have he her his how i if in into is it its me my no not of on or our she should so than that the their them then there
	they this to up us was we were what when where which while who why will with would you your`)

// Vector returns the vector of a text, of length 1: each word and each run of
// four letters of it is hashed to a place and a sign. Words in every text count
// for nothing, and one said often less each time. A text without words of its own
// has a vector too, along the first axis.
func Vector(text string, dimensions int) []float32 {
	counts := make(map[string]float64)
	for _, word := range words(text) {
		if common[word] {
			continue
		}
		counts["="+word] += wordWeight
		edged := []rune("<" + word + ">")
		for i := 0; i+partLength <= len(edged); i++ {
			counts[string(edged[i:i+partLength])] += partWeight
		}
	}
	sums := make([]float64, dimensions)
	for feature, n := range counts {
		h := fnv.New64a()
		_, _ = h.Write([]byte(feature)) // It never fails.
		sum := h.Sum64()
		// A whole number of 1/1024, so that the order of adding changes nothing.
		weight := math.Round(math.Sqrt(n) * 1024)
		if sum>>63 == 1 {
			weight = -weight
		}
		sums[sum%uint64(dimensions)] += weight //nolint:gosec // At least MinDimensions.
	}
	return normal(sums)
}

func normal(sums []float64) []float32 {
	var square float64
	for _, v := range sums {
		square += v * v
	}
	out := make([]float32, len(sums))
	if square == 0 {
		out[0] = 1
		return out
	}
	length := math.Sqrt(square)
	for i, v := range sums {
		out[i] = float32(v / length)
	}
	return out
}

// words returns the words of a text in lower case, letters and digits alone.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func wordSet(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// Package nearest suggests the closest known name for a misspelled one.
package nearest

import "strings"

// farthest is the edit distance at which names are unrelated.
const farthest = 4

// Name returns the known name closest to name, ignoring case, or the empty string when all
// are four edits or more apart, or more than half of the name.
func Name(name string, known []string) string {
	best, distance := "", farthest
	for _, k := range known {
		if d := edits(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if distance > max(1, len(name)/2) {
		return ""
	}
	return best
}

// edits counts the insertions, deletions and replacements between a and b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

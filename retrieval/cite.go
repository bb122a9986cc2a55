package retrieval

import (
	"fmt"
	"strings"
	"unicode"
)

// Citation returns the citation of the n-th hit, from 1, in one line:
// "[1] Title › Heading › Heading, page 3 (source)". The key replaces a missing title; without a
// source there are no parentheses.
func (h *Hit) Citation(n int) string {
	parts := make([]string, 0, 1+len(h.Headings))
	for i, part := range append([]string{h.Title}, h.Headings...) {
		if part = oneLine(part); part == "" && i == 0 {
			part = h.DocumentKey
		}
		if part != "" && (len(parts) == 0 || parts[len(parts)-1] != part) {
			parts = append(parts, part)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] %s", n, strings.Join(parts, " › "))
	if h.Page > 0 {
		fmt.Fprintf(&b, ", page %d", h.Page)
	}
	if h.Source != "" {
		fmt.Fprintf(&b, " (%s)", h.Source)
	}
	return b.String()
}

// oneLine returns s without line ends and other control characters.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(s), " "))
}

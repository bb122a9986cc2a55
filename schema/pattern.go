package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Limits of patterns. Matching costs the length of the text times the size of
// the pattern.
const (
	maxPatternBytes = 1024
	maxPatternSize  = 5_000  // Instructions of one pattern.
	maxPatternsSize = 20_000 // Instructions of a schema's patterns together.
)

// checkPattern refuses patterns that Go cannot match, or that expand too far, before they are
// compiled. total accumulates the sizes.
func checkPattern(pattern string, total *int) error {
	if len(pattern) > maxPatternBytes {
		return fmt.Errorf("a pattern longer than %d bytes", maxPatternBytes)
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		if se, ok := errors.AsType[*syntax.Error](err); ok {
			return fmt.Errorf("a pattern that RE2 does not support: %s", se.Code)
		}
		return errors.New("a pattern that RE2 does not support")
	}
	size := patternSize(re)
	*total += size
	if size > maxPatternSize || *total > maxPatternsSize {
		return errors.New("patterns that expand too far: use smaller repetitions")
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return errors.New("a pattern that RE2 does not support")
	}
	return nil
}

// patternSize estimates how many instructions re compiles to, saturating just
// above the limit.
func patternSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += patternSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		times := max(re.Max, re.Min+1)
		size *= max(times, 1)
	}
	return min(size, maxPatternSize+1)
}

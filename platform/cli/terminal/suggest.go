package terminal

import (
	"fmt"

	"github.com/toolcrib/toolcrib/internal/nearest"
)

// DidYouMean asks after the name that was probably meant, or says nothing.
func DidYouMean(name string, known []string) string {
	if best := nearest.Name(name, known); best != "" {
		return fmt.Sprintf(": did you mean %s?", Clean(best))
	}
	return ""
}

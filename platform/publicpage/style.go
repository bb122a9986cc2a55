package publicpage

import (
	_ "embed"
	"strings"
)

//go:embed base.css
var base string

// Style returns the style of a page: what all pages share, then the parts that are its own.
func Style(own ...string) string {
	return base + strings.Join(own, "")
}

package publicpage

import _ "embed"

//go:embed base.css
var base string

// Style returns the style of a page: what all pages share, then the parts that are its own.
func Style(own ...string) string {
	style := base
	for _, part := range own {
		style += part
	}
	return style
}

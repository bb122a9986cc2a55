package publicresult

import (
	_ "embed"
	"html/template"
)

//go:embed sections.html
var source string

//go:embed sections.css
var style string

// Style is the style of sections. A page adds it to its own, and to the policy of what it loads; the colours are those
// of the base of publicpage.
func Style() string { return style }

// Define adds the template "sections" to those of a page. It shows a list of [Section].
func Define(t *template.Template) *template.Template {
	return template.Must(t.Parse(source))
}

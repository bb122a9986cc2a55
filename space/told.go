package space

import "strings"

// lineEnds makes everything that models may take for the end of a line one.
var lineEnds = strings.NewReplacer(
	"\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n",
)

// Indented returns a text as it is written into what an agent is told: all lines but the first are
// indented, so that none looks like words of somebody else, or of the platform.
func Indented(text string) string { return strings.ReplaceAll(lineEnds.Replace(text), "\n", "\n    ") }

// OneLine returns a name or a description as it is written into what an agent is told: on one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

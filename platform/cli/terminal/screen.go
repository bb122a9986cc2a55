package terminal

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// screen is a writer whose reader sees so many columns.
type screen struct {
	io.Writer
	columns int
}

// NewScreen returns a writer to w whose reader sees so many columns.
func NewScreen(w io.Writer, columns int) io.Writer { return &screen{Writer: w, columns: columns} }

// SystemColumns asks the system how wide the terminal is that w writes to, if
// it does.
func SystemColumns(w io.Writer) (columns int, ok bool) {
	file, isFile := w.(*os.File)
	if !isFile {
		return 0, false
	}
	fd := int(file.Fd())
	if !term.IsTerminal(fd) {
		return 0, false
	}
	columns, _, err := term.GetSize(fd)
	if err != nil || columns <= 0 {
		return 80, true
	}
	return columns, true
}

// columnsOf returns how many columns the reader of w sees, or 0 where nothing
// bounds them.
func columnsOf(w io.Writer) int {
	if s, ok := w.(*screen); ok {
		return s.columns
	}
	return 0
}

// Width returns how many columns a text takes on a screen.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += columnsFor(r)
	}
	return n
}

func columnsFor(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x1100:
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	case width.Neutral, width.EastAsianAmbiguous, width.EastAsianNarrow, width.EastAsianHalfwidth:
		return 1
	default:
		return 1
	}
}

// fitText cuts a text to so many columns.
func fitText(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	var b strings.Builder
	used := 1 // The ellipsis.
	for _, r := range text {
		if used += columnsFor(r); used > columns {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}

package terminal

import (
	"io"
	"os"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
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

// widths measures texts alike in every locale.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// Width returns how many columns a text takes on a screen.
func Width(text string) int { return widths.StringWidth(text) }

// fitText cuts a text to so many columns.
func fitText(text string, columns int) string { return widths.Truncate(text, columns, "…") }

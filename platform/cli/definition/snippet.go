package definition

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

// A line that is shown for a fault is cut to what stands around it.
const (
	snippetBefore  = 60
	snippetColumns = 100
)

// quote keeps the line that the fault is in.
func (e *FileError) quote(source []byte) {
	if e.Line < 1 {
		return
	}
	lines := bytes.SplitN(source, []byte("\n"), e.Line+1)
	if e.Line <= len(lines) {
		e.Source = string(bytes.TrimRight(lines[e.Line-1], "\r"))
	}
}

// Show writes the line that the fault is in, with a mark below its place.
func (e *FileError) Show(w io.Writer) error {
	if strings.TrimSpace(e.Source) == "" || e.Column < 1 {
		return nil
	}
	text := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) { // One for one, so that the mark stays in its place.
			return ' '
		}
		return r
	}, strings.TrimPrefix(e.Source, "\uFEFF")))
	at := min(e.Column-1, len(text))
	from, before, after := 0, "", ""
	if at > snippetBefore {
		from, before = at-snippetBefore, "…"
	}
	to := len(text)
	if to > from+snippetColumns {
		to, after = from+snippetColumns, "…"
	}
	number := fmt.Sprintf("%5d | ", e.Line)
	pad := strings.Repeat(" ", terminal.Width(before+string(text[from:at])))
	_, err := fmt.Fprintf(w, "%s%s%s%s\n%*s | %s^\n", number, before, string(text[from:to]), after, 5, "", pad)
	return err
}

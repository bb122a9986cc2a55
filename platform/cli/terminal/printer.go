// Package terminal writes what commands print for people: tables that fit the
// screen, names with their values, points in time, and the progress of an
// operation. Texts of others pass [Clean] before they are written, which keeps
// them from controlling the terminal.
//
// It knows nothing of commands, the API or definitions.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// Printer writes the results of commands, as JSON or for people.
type Printer struct {
	Out  io.Writer
	JSON bool
}

// Show prints v as JSON, or calls human to write it for people.
func (p Printer) Show(v any, human func(w io.Writer) error) error {
	if !p.JSON {
		return human(p.Out)
	}
	enc := json.NewEncoder(p.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// ShowLine prints v as JSON, or a line for people.
func (p Printer) ShowLine(v any, format string, args ...any) error {
	return p.Show(v, func(io.Writer) error { return p.Say(format, args...) })
}

// Say prints a line for people.
func (p Printer) Say(format string, args ...any) error {
	if p.JSON {
		return nil
	}
	_, err := fmt.Fprintf(p.Out, format+"\n", args...)
	return err
}

// Pairs writes names and values in two columns, and leaves out empty values.
func Pairs(w io.Writer, values ...string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(values); i += 2 {
		if values[i+1] != "" {
			_, _ = fmt.Fprintf(tw, "%s\t%s\n", values[i], Clean(values[i+1]))
		}
	}
	return tw.Flush()
}

// Clean removes control characters from an untrusted text, so that it can
// neither control the terminal nor reorder the letters that it shows.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.IsControl(r) || reorders(r):
			return -1
		}
		return r
	}, text)
}

// reorders reports whether a character changes the order of those after it:
// Unicode's embeddings, overrides and isolates. Its marks, which scripts from
// right to left need, do not reach so far.
func reorders(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

// Shorten cuts a text to a number of characters.
func Shorten(text string, limit int) string {
	runes := []rune(Clean(text))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}

// Stamp is a point in time, in the zone of the reader; empty for the zero time.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

// StampOf is [Stamp] of an optional time.
func StampOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return Stamp(*t)
}

// Millis returns how long something took, or "–" while it lasts.
func Millis(from, to *time.Time) string {
	if from == nil || to == nil {
		return "–"
	}
	return strconv.FormatInt(to.Sub(*from).Milliseconds(), 10)
}

// CleanLines is [Clean] for a text of several lines.
func CleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Clean(line)
	}
	return strings.Join(lines, "\n")
}

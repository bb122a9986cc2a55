package cli

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

// printer writes what commands found out.
type printer struct {
	out  io.Writer
	json bool
}

// show prints v as JSON, or has a person's version of it written.
func (p printer) show(v any, human func(w io.Writer) error) error {
	if !p.json {
		return human(p.out)
	}
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// say prints a line for people.
func (p printer) say(format string, args ...any) error {
	if p.json {
		return nil
	}
	_, err := fmt.Fprintf(p.out, format+"\n", args...)
	return err
}

// pairs writes names and values in two columns, and leaves out empty values.
func pairs(w io.Writer, values ...string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(values); i += 2 {
		if values[i+1] != "" {
			_, _ = fmt.Fprintf(tw, "%s\t%s\n", values[i], clean(values[i+1]))
		}
	}
	return tw.Flush()
}

// clean removes control characters from an untrusted text, so that it can
// neither control the terminal nor reorder the letters that it shows.
func clean(text string) string {
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

// short cuts a text to a number of characters.
func short(text string, limit int) string {
	runes := []rune(clean(text))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime) //nolint:gosmopolitan // People read it where they are.
}

func stampOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return stamp(*t)
}

// millis returns how long something took, or "–" while it lasts.
func millis(from, to *time.Time) string {
	if from == nil || to == nil {
		return "–"
	}
	return strconv.FormatInt(to.Sub(*from).Milliseconds(), 10)
}

// cleanLines is [clean] for a text of several lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.Join(lines, "\n")
}

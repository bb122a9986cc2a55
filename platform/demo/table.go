package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// noteWidth is how much of an error or a "no" is shown.
const noteWidth = 110

var heading = []string{"CALL", "TOOL@VERSION", "TYPE", "MODE", "STATUS", "ATTEMPTS", "MS"}

// printCalls writes a row for each call, and below it its error, its answer
// "no", or what was changed in its arguments. The nested calls of a call are
// indented below it.
func printCalls(out io.Writer, calls []v1.Invocation) {
	rows := [][]string{heading}
	for _, inv := range calls {
		rows = append(rows, cells(inv))
	}
	widths := make([]int, len(heading))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range rows {
		_, _ = fmt.Fprintln(out, "  "+align(row, widths))
		if i > 0 {
			for _, note := range notes(calls[i-1]) {
				_, _ = fmt.Fprintln(out, "      "+note)
			}
		}
	}
}

func cells(inv v1.Invocation) []string {
	status, attempts := string(inv.Status), "–"
	if inv.Status == tool.StatusCompleted && inv.IsError {
		status += ` ("no")`
	}
	if inv.Attempt > 0 {
		attempts = strconv.Itoa(inv.Attempt)
	}
	took := "–"
	if inv.StartedAt != nil && inv.CompletedAt != nil {
		took = strconv.FormatInt(inv.CompletedAt.Sub(*inv.StartedAt).Milliseconds(), 10)
	}
	kind := string(inv.Implementation)
	if kind == "" {
		kind = "–"
	}
	return []string{name(inv.CallID), pinned(inv), kind, string(inv.Mode), status, attempts, took}
}

// name sets a call below the one that it is part of.
func name(callID string) string {
	depth, last := strings.Count(callID, "/"), callID[strings.LastIndex(callID, "/")+1:]
	return strings.Repeat("  ", depth) + last
}

// align pads every cell but the last, and the numbers on their left.
func align(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i > 0 {
			b.WriteString("  ")
		}
		if i >= len(row)-2 {
			b.WriteString(pad + cell)
			continue
		}
		b.WriteString(cell + pad)
	}
	return b.String()
}

func notes(inv v1.Invocation) []string {
	var out []string
	if inv.Error != "" {
		out = append(out, fmt.Sprintf("└ %s: %s", inv.ErrorKind, clip(inv.Error)))
	} else if inv.IsError && inv.Output != nil && len(inv.Output.Content) > 0 {
		out = append(out, `└ "no": `+clip(inv.Output.Content[0].Text))
	}
	if len(inv.Receipt) > 0 {
		out = append(out, "└ arguments mended: "+clip(receipt(inv.Receipt)))
	}
	return out
}

// receipt says what coercion changed.
func receipt(raw json.RawMessage) string {
	var changes []struct {
		Rule   string `json:"rule"`
		Path   string `json:"path"`
		Detail string `json:"detail"`
	}
	if json.Unmarshal(raw, &changes) != nil {
		return string(raw)
	}
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = strings.TrimSpace(c.Rule + " " + c.Path)
	}
	return strings.Join(texts, "; ")
}

// clip makes s one line of at most noteWidth characters.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= noteWidth {
		return s
	}
	return string([]rune(s)[:noteWidth-1]) + "…"
}

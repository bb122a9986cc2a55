package terminal

import (
	"fmt"
	"io"
	"strings"
)

const (
	columnGap = 2
	leastSoft = 8 // Columns that give way keep so much.
	leastHard = 3
)

// Table writes rows in columns, each row on one line of the screen. Columns
// whose header ends in ~ give way first where a screen is too narrow. An empty
// Table says so.
func Table(w io.Writer, header string, rows [][]string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "none")
		return err
	}
	names := strings.Fields(header)
	soft := make([]bool, len(names))
	for i, name := range names {
		names[i], soft[i] = strings.CutSuffix(name, "~")
	}
	lines := append([][]string{names}, rows...)
	widths := make([]int, len(names))
	for _, line := range lines {
		for i, cell := range line {
			line[i] = Clean(cell)
			widths[i] = max(widths[i], Width(line[i]))
		}
	}
	limit := columnsOf(w)
	if limit > 0 {
		shrink(widths, soft, limit)
	}
	for _, line := range lines {
		text := row(line, widths)
		if limit > 0 {
			text = fitText(text, limit)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// row writes the cells of a line in their columns.
func row(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		cell = fitText(cell, widths[i])
		b.WriteString(cell)
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-Width(cell)+columnGap))
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// shrink makes columns narrower until they fit, the widest first: those that
// give way, then the others.
func shrink(widths []int, soft []bool, limit int) {
	over := columnGap*(len(widths)-1) - limit
	for _, n := range widths {
		over += n
	}
	for _, hard := range []bool{false, true} {
		for ; over > 0; over-- {
			widest, least := -1, leastSoft
			if hard {
				least = leastHard
			}
			for i, n := range widths {
				if (hard || soft[i]) && n > least && (widest < 0 || n > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
		}
	}
}

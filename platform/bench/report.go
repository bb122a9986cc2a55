package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// report writes the figures as a page of Markdown.
func report(w io.Writer, figures []Figure, machine string, took time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured\n\n%s, %s; took %s.\n\n", time.Now().UTC().Format(time.DateOnly), machine,
		took.Round(time.Second))
	b.WriteString("| figure | ours | floor | unit | ratio | target | | p50 / p99 ms | CPU ms, ours / floor | n | |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	missed := 0
	for _, f := range figures {
		verdict := ""
		if f.OK != nil {
			verdict = "reached"
			if !*f.OK {
				verdict = "**MISSED**"
				missed++
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %d | %s |\n",
			f.Name, number(f.Ours), number(f.Floor), f.Unit, number(f.Ratio), f.Target, verdict,
			pair(f.P50, f.P99), pair(f.CPU, f.FloorCPU), f.N, strings.ReplaceAll(f.Note, "|", "/"))
	}
	fmt.Fprintf(&b, "\n%d figures, %d of them below their target.\n", len(figures), missed)
	_, err := io.WriteString(w, b.String())
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func number(v float64) string {
	if v == 0 {
		return "–"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func pair(a, b float64) string {
	if a == 0 && b == 0 {
		return "–"
	}
	return number(a) + " / " + number(b)
}

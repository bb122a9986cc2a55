package demo

import (
	"fmt"
	"io"
	"time"
)

// progress shows a person at the terminal each step and how long it took.
type progress struct {
	out io.Writer
}

// step prints what is being done, does it, and prints how long it took and the
// result of do.
func (p progress) step(what string, do func() (result string, err error)) error {
	_, _ = fmt.Fprintf(p.out, "  %-44s ", what+" …")
	began := time.Now()
	result, err := do()
	if err != nil {
		_, _ = fmt.Fprintln(p.out, "failed")
		return fmt.Errorf("%s: %w", what, err)
	}
	_, _ = fmt.Fprintf(p.out, "%5.1f s  %s\n", time.Since(began).Seconds(), result)
	return nil
}

func (p progress) say(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format+"\n", args...) }

package sandbox_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// diary writes down what an observer is told.
type diary struct {
	mu     sync.Mutex
	counts map[string]int
}

func (d *diary) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[what]++
}

func (d *diary) read() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.counts)
}

func (d *diary) Started() { d.note("started") }

func (d *diary) Ended(why string) { d.note("ended " + why) }

func (d *diary) Waited(time.Duration) { d.note("waited") }

func (d *diary) Ran(l sandbox.Language, outcome string, _ time.Duration) {
	d.note(fmt.Sprintf("ran %s %s", l, outcome))
}

// An observer hears of every child and every run, and of what each ended by.
func TestObserver(t *testing.T) {
	t.Parallel()

	d := &diary{counts: make(map[string]int)}
	p := newPool(t, func(c *sandbox.Config) { c.Observer, c.Children, c.MaxRuns, c.MaxProgram = d, 1, 2, 10 })
	for _, program := range []string{"echo", "echo", "echo", "panic", "hang", "die", "fail"} {
		j := job("t", program)
		if program == "hang" {
			j.Limits.Time = 200 * time.Millisecond
		}
		_, _ = p.Run(t.Context(), j) // Another test has how each ends.
	}
	_, err := p.Run(t.Context(), job("another", "echo"))
	require.NoError(t, err)
	_, err = p.Run(t.Context(), job("another", "longer than 10 bytes"))
	require.ErrorContains(t, err, "the limit for jq is 10")
	require.NoError(t, p.Close())
	require.Equal(t, map[string]int{
		"started": 6, "waited": 8,
		"ended replaced": 1, "ended crashed": 1, "ended time": 1, "ended lost": 1, "ended evicted": 1, "ended closed": 1,
		"ran jq answered": 4, "ran jq crashed": 1, "ran jq time": 1, "ran jq lost": 1, "ran jq failed": 1,
	}, d.read())
}

// Operators hear once of children whose fence lacks something.
func TestALackIsLogged(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	p := newPool(t, func(c *sandbox.Config) {
		c.Command[1], c.Logger, c.MaxRuns = "sandbox of glass", slog.New(slog.NewTextHandler(&out, nil)), 1
	})
	for range 3 {
		_, err := p.Run(t.Context(), job("t", "echo"))
		require.NoError(t, err)
	}
	require.Equal(t, 1, strings.Count(out.String(), "with an incomplete syscall filter"))
	require.Contains(t, out.String(), "of glass")
}

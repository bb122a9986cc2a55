package cli

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// terminal collects what is written to a screen.
type terminal struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (s *terminal) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(text)
}

func (s *terminal) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func watched(screen io.Writer) *app {
	a := &app{env: Env{Err: screen, Terminal: func(io.Writer) (int, bool) { return 40, true }}}
	a.printer.out = screen
	return a
}

// The progress of a long operation is shown, apart from the output, and erased
// at the end.
func TestProgress(t *testing.T) {
	t.Parallel()
	var screen terminal
	a := watched(&screen)
	done := a.progress("waiting for %s", "getOrder")
	require.Eventually(t, func() bool { return strings.Contains(screen.String(), "\rwaiting for getOrder… ") },
		30*time.Second, 5*time.Millisecond)
	_, err := io.WriteString(a.printer.out, "a line\n")
	require.NoError(t, err)
	require.Contains(t, screen.String(), "\r\x1b[Ka line\n")
	drawn := strings.Count(screen.String(), "waiting")
	require.Eventually(t, func() bool { return strings.Count(screen.String(), "waiting") > drawn }, 30*time.Second,
		5*time.Millisecond)
	done()
	require.True(t, strings.HasSuffix(screen.String(), "\r\x1b[K"))
	require.Same(t, &screen, a.printer.out)
}

func TestProgressIsQuiet(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*app){
		"NoTerminal": func(a *app) { a.env.Terminal = func(io.Writer) (int, bool) { return 0, false } },
		"JSON":       func(a *app) { a.flags.json = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var screen terminal
			a := watched(&screen)
			change(a)
			done := a.progress("waiting")
			require.Same(t, &screen, a.printer.out)
			done()
			require.Empty(t, screen.String())
		})
	}
}

// A line that is not complete is never drawn over.
func TestProgressLeavesHalfLines(t *testing.T) {
	t.Parallel()
	var screen terminal
	p := &progress{out: &screen, columns: 40, what: "waiting", began: time.Now()}
	out := p.under(&screen)
	_, err := io.WriteString(out, "half a li")
	require.NoError(t, err)
	p.draw()
	require.Equal(t, "half a li", screen.String())
	_, err = io.WriteString(out, "ne\n")
	require.NoError(t, err)
	p.draw()
	require.Contains(t, screen.String(), "half a line\n\rwaiting")
}

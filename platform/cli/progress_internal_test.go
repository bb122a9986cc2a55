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

// recorder collects what is written to a screen.
type recorder struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (s *recorder) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(text)
}

func (s *recorder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func watched(screen io.Writer) *App {
	a := &App{Env: Env{Err: screen, Terminal: func(io.Writer) (int, bool) { return 40, true }}}
	a.Printer.Out = screen
	return a
}

// The progress of a long operation is shown, apart from the output, and erased
// at the end.
func TestProgress(t *testing.T) {
	t.Parallel()
	var screen recorder
	a := watched(&screen)
	done := a.Progress("waiting for %s", "getOrder")
	require.Eventually(t, func() bool { return strings.Contains(screen.String(), "\rwaiting for getOrder… ") },
		30*time.Second, 5*time.Millisecond)
	_, err := io.WriteString(a.Printer.Out, "a line\n")
	require.NoError(t, err)
	require.Contains(t, screen.String(), "\r\x1b[Ka line\n")
	drawn := strings.Count(screen.String(), "waiting")
	require.Eventually(t, func() bool { return strings.Count(screen.String(), "waiting") > drawn }, 30*time.Second,
		5*time.Millisecond)
	done()
	require.True(t, strings.HasSuffix(screen.String(), "\r\x1b[K"))
	require.Same(t, &screen, a.Printer.Out)
}

func TestProgressIsQuiet(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*App){
		"NoTerminal": func(a *App) { a.Env.Terminal = func(io.Writer) (int, bool) { return 0, false } },
		"JSON":       func(a *App) { a.flags.json = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var screen recorder
			a := watched(&screen)
			change(a)
			done := a.Progress("waiting")
			require.Same(t, &screen, a.Printer.Out)
			done()
			require.Empty(t, screen.String())
		})
	}
}

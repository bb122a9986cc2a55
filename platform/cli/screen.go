package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

// Width variables and bounds.
const (
	columnsVariable = "COLUMNS" // Overrides the width that the terminal reports.
	leastColumns    = 20
)

// screen returns w with the width of its terminal. If w is a pipe or a file, it
// returns w, and nothing is cut.
func (a *App) screen(w io.Writer) io.Writer {
	columns, ok := a.Terminal(w)
	if !ok {
		return w
	}
	return terminal.NewScreen(w, columns)
}

// Terminal returns how wide the terminal is that w writes to, if it does.
func (a *App) Terminal(w io.Writer) (columns int, ok bool) {
	ask := a.Env.Terminal
	if ask == nil {
		ask = terminal.SystemColumns
	}
	if columns, ok = ask(w); !ok {
		return 0, false
	}
	if n, err := strconv.Atoi(a.Env.Getenv(columnsVariable)); err == nil && n > 0 {
		columns = n
	}
	return max(columns, leastColumns), true
}

// Progress shows that an operation is running until done is called. It is
// silent with --json, and if the error stream is no terminal.
func (a *App) Progress(format string, args ...any) (done func()) {
	_, done = a.Steps(format, args...)
	return done
}

// Steps is [App.Progress] for an operation that reports its progress: step
// shows it behind the text.
func (a *App) Steps(format string, args ...any) (step func(at string), done func()) {
	columns, ok := a.Terminal(a.Env.Err)
	if !ok || a.flags.json {
		return func(string) {}, func() {}
	}
	printed := a.Printer.Out
	p := terminal.StartProgress(a.Env.Err, columns, fmt.Sprintf(format, args...))
	a.Printer.Out = p.Over(printed)
	return p.Step, func() {
		p.Stop()
		a.Printer.Out = printed
	}
}

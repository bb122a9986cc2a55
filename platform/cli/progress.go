package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// What lasts shorter than progressDelay has no progress.
const (
	progressDelay = 300 * time.Millisecond
	progressPause = 200 * time.Millisecond
)

// progress shows a person at a terminal that an operation is still running: one
// line on the error stream, which is erased before anything else is written.
type progress struct {
	out     io.Writer
	columns int
	what    string
	began   time.Time

	mu    sync.Mutex
	at    string // How far it has come; empty where that is not known.
	drawn bool
	mid   bool // The line on the screen is not a progress line, and incomplete.
}

// progress shows that an operation is running until done is called. It is
// silent with --json, and if the error stream is no terminal.
func (a *app) progress(format string, args ...any) (done func()) {
	_, done = a.steps(format, args...)
	return done
}

// steps is [app.progress] for an operation that reports its progress: step
// shows it behind the text.
func (a *app) steps(format string, args ...any) (step func(at string), done func()) {
	columns, ok := a.terminal(a.env.Err)
	if !ok || a.flags.json {
		return func(string) {}, func() {}
	}
	p := &progress{out: a.env.Err, columns: columns, what: clean(fmt.Sprintf(format, args...)), began: time.Now()}
	printed := a.printer.out
	a.printer.out = p.under(printed)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go p.run(stop, stopped)
	step = func(at string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.at = clean(at)
	}
	return step, func() {
		close(stop)
		<-stopped
		a.printer.out = printed
	}
}

func (p *progress) run(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	timer := time.NewTimer(progressDelay)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			p.mu.Lock()
			defer p.mu.Unlock()
			p.wipe()
			return
		case <-timer.C:
			p.draw()
			timer.Reset(progressPause)
		}
	}
}

// draw writes the line. Errors of the terminal are ignored: they cannot be
// reported.
func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mid {
		return
	}
	text := fmt.Sprintf("%s… %ds", p.what, int(time.Since(p.began).Seconds()))
	if p.at != "" {
		text = fmt.Sprintf("%s: %s… %ds", p.what, p.at, int(time.Since(p.began).Seconds()))
	}
	_, _ = fmt.Fprint(p.out, "\r"+fitText(text, p.columns-1)+"\x1b[K")
	p.drawn = true
}

func (p *progress) wipe() {
	if p.drawn {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

// under returns a writer to the same screen that gets the line out of the way.
func (p *progress) under(w io.Writer) io.Writer {
	over := io.Writer(&beside{progress: p, Writer: w})
	if columns := columnsOf(w); columns > 0 {
		return &screen{Writer: over, columns: columns}
	}
	return over
}

// beside writes where a progress is shown.
type beside struct {
	*progress
	io.Writer
}

func (b *beside) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wipe()
	if len(text) > 0 {
		b.mid = text[len(text)-1] != '\n'
	}
	return b.Writer.Write(text)
}

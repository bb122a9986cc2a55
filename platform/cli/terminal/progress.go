package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Operations shorter than progressDelay show no progress.
const (
	progressDelay = 300 * time.Millisecond
	progressPause = 200 * time.Millisecond
)

// Progress shows a person at a terminal that an operation is still running: one
// line on the error stream, which is erased before anything else is written.
type Progress struct {
	out     io.Writer
	columns int
	what    string
	began   time.Time
	stop    chan struct{}
	stopped chan struct{}

	mu    sync.Mutex
	at    string // How far it has come; empty where that is not known.
	drawn bool
	mid   bool // The line on the screen is not a progress line, and incomplete.
}

// StartProgress shows text on w, which is that many columns wide, until
// [Progress.Stop] is called, once.
func StartProgress(w io.Writer, columns int, text string) *Progress {
	p := &Progress{
		out: w, columns: columns, what: Clean(text), began: time.Now(),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go p.run()
	return p
}

// Stop erases the line and ends the progress.
func (p *Progress) Stop() {
	close(p.stop)
	<-p.stopped
}

// Step shows behind the text how far the operation has come.
func (p *Progress) Step(at string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = Clean(at)
}

func (p *Progress) run() {
	defer close(p.stopped)
	timer := time.NewTimer(progressDelay)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
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
func (p *Progress) draw() {
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

func (p *Progress) wipe() {
	if p.drawn {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

// Over returns a writer to the same screen that gets the line out of the way.
func (p *Progress) Over(w io.Writer) io.Writer {
	over := io.Writer(&beside{Progress: p, Writer: w})
	if columns := columnsOf(w); columns > 0 {
		return &screen{Writer: over, columns: columns}
	}
	return over
}

// beside writes where a progress is shown.
type beside struct {
	*Progress
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

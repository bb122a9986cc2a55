package activities

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
)

// Outputs stores the output that models and tools produce while they run, for
// followers of the run. Package store implements it.
type Outputs interface {
	AppendOutput(ctx context.Context, o agent.Output) error
}

const (
	outputInterval = 75 * time.Millisecond // Text is buffered for this long,
	outputSize     = 2 << 10               // or up to this many bytes.
	maxUnwritten   = 64 << 10              // Bytes buffered for a slow database; more is dropped.
	outputPatience = 2 * time.Second       // For one write, and for the last write of a turn.
)

// stream returns the function to which a running model or tool reports its output; nil if the run has
// no followers. The returned end function writes the rest; nothing is written after it. A stream
// without output costs nothing.
func (a *Activities) stream(ctx context.Context, o agent.Output) (say func(text string), end func()) {
	if a.Outputs == nil || o.RunID == "" {
		return nil, func() {}
	}
	w := newOutputWriter(ctx, a.Outputs, o)
	return w.say, func() {
		lost, err := w.close()
		if lost == 0 {
			return
		}
		held, ok := a.warnings.pass("output of "+string(o.Tenant), time.Now())
		if !ok {
			return
		}
		activity.GetLogger(ctx).Warn("a part of the output was dropped",
			slog.String("tenant_id", string(o.Tenant)), slog.String("run_id", o.RunID), slog.Int("turn", o.Turn),
			slog.String("call_id", o.CallID), slog.Int("lost_chunks", lost), slog.Int("others_since_last_warning", held),
			slog.Any("error", err))
	}
}

// outputWriter buffers output and writes it in the background. It never blocks, and its errors do not
// fail the call.
type outputWriter struct {
	port   Outputs
	output agent.Output // All but its text.
	start  func()       // Starts the writing.
	cancel context.CancelFunc

	some chan struct{} // Holds a token while there is text to write,
	full chan struct{} // and while it should be written at once.
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	text    []byte
	pieces  int // Number of pieces in text.
	started bool
	closed  bool
	lost    int
	err     error // Of the last failed write.
}

// newOutputWriter returns a writer that continues after ctx ends, until it is closed.
func newOutputWriter(ctx context.Context, port Outputs, o agent.Output) *outputWriter {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &outputWriter{
		port: port, output: o, cancel: cancel, some: make(chan struct{}, 1), full: make(chan struct{}, 1),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	w.start = func() { go w.run(ctx) }
	return w
}

// say buffers a piece of the output. It does not block.
func (w *outputWriter) say(text string) {
	if text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if len(w.text)+len(text) > maxUnwritten {
		w.lost++
		return
	}
	w.text = append(w.text, text...)
	w.pieces++
	if !w.started {
		w.started = true
		w.start()
	}
	signal(w.some)
	if len(w.text) >= outputSize {
		signal(w.full)
	}
}

func signal(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

func (w *outputWriter) run(ctx context.Context) {
	defer close(w.done)
	tick := time.NewTimer(outputInterval)
	defer tick.Stop()
	for {
		select {
		case <-w.some:
		case <-w.quit:
			w.write(ctx)
			return
		}
		tick.Reset(outputInterval)
		select {
		case <-tick.C:
		case <-w.full:
		case <-w.quit:
			w.write(ctx)
			return
		}
		w.write(ctx)
	}
}

// write writes the buffered text.
func (w *outputWriter) write(ctx context.Context) {
	chunk := w.output
	w.mu.Lock()
	chunk.Text = string(w.text)
	pieces := w.pieces
	w.text, w.pieces = w.text[:0], 0
	for _, token := range []chan struct{}{w.some, w.full} {
		select {
		case <-token:
		default:
		}
	}
	w.mu.Unlock()
	if chunk.Text == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, outputPatience)
	defer cancel()
	if err := w.port.AppendOutput(ctx, chunk); err != nil {
		w.mu.Lock()
		w.lost += pieces
		w.err = err
		w.mu.Unlock()
	}
}

// close writes the buffered text and stops the writer. It returns how many pieces were dropped, and
// the last reason.
func (w *outputWriter) close() (lost int, err error) {
	defer w.cancel()
	w.mu.Lock()
	w.closed = true
	started := w.started
	w.mu.Unlock()
	if started {
		close(w.quit)
		late := time.AfterFunc(outputPatience, w.cancel)
		<-w.done
		late.Stop()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost, w.err
}

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
	outputInterval = 75 * time.Millisecond // Text is gathered for so long,
	outputSize     = 2 << 10               // or until there are so many bytes of it.
	maxUnwritten   = 64 << 10              // Bytes that wait for a slow database; what comes then is lost.
	outputPatience = 2 * time.Second       // Of one write, and of the turn with the last one.
)

// stream returns the function that a model or a tool reports its output with
// while it runs; nil where the run has no followers. The returned end function
// writes what is left; nothing is written after it. A stream without output
// costs nothing.
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
		held, ok := a.warnings.pass("output of "+string(o.Tenant), time.Now()) // A noisy program repeats it with every call.
		if !ok {
			return
		}
		activity.GetLogger(ctx).Warn("a part of the output was not streamed",
			slog.String("tenant_id", string(o.Tenant)), slog.String("run_id", o.RunID), slog.Int("turn", o.Turn),
			slog.String("call_id", o.CallID), slog.Int("lost_chunks", lost), slog.Int("others_since_last_warning", held),
			slog.Any("error", err))
	}
}

// outputWriter buffers output and writes it in the background. Reporters of
// output never wait for it, and its failures do not fail the call.
type outputWriter struct {
	port   Outputs
	output agent.Output // All but its text.
	start  func()       // Begins the writing.
	cancel context.CancelFunc

	some chan struct{} // Holds a token while there is text to write,
	full chan struct{} // and while it should not be waited for more.
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	text    []byte
	pieces  int // That text is made of.
	started bool
	closed  bool
	lost    int
	err     error // Of the last write that failed.
}

// newOutputWriter returns a writer that goes on when ctx ends, until it is closed.
func newOutputWriter(ctx context.Context, port Outputs, o agent.Output) *outputWriter {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &outputWriter{
		port: port, output: o, cancel: cancel, some: make(chan struct{}, 1), full: make(chan struct{}, 1),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	w.start = func() { go w.run(ctx) }
	return w
}

// say takes a piece of the answer. It returns at once.
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

// write writes the text that waits.
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

// close writes what waits and ends the writer. It returns how many pieces were
// lost, and the last reason.
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

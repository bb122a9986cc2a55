package runs

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	// minPoll and maxPoll bound the time between two reads of the record of a call
	// that is waited for, in case that a wake-up was lost.
	minPoll, maxPoll = 100 * time.Millisecond, time.Second
	// maxPause bounds the time that wake-ups are collected for one read. A call with
	// much output causes many.
	maxPause = 100 * time.Millisecond
	// firstDoubt is when Temporal is first asked whether a call's workflow has ended
	// without recording it. The time doubles.
	firstDoubt = 3 * time.Second
	// unexplained is when Temporal is asked about a call whose record has an end but
	// no explanation of it. The time doubles up to maxPoll: its workflow is closing.
	unexplained = 10 * time.Millisecond
)

// Wait waits for the end of a call, for at most timeout. A call that has not
// ended by then, or that Temporal does not know, continues: ended is false, and so
// is a failure. An ended call has either a result or the error that its workflow
// failed with, as a [*tool.Error] if it is one of ours. A call whose workflow was
// not confirmed is not waited for.
//
// The end is read from the record when wakes says that it changed, and periodically;
// nil is for the latter alone. Temporal is asked where the record does not tell.
func (s *Service) Wait(
	ctx context.Context, c Call, timeout time.Duration, wakes Wakes,
) (result *tool.Result, ended bool, err error) {
	if timeout <= 0 || !c.confirmed {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	news := func() <-chan struct{} { return nil }
	if wakes != nil {
		var leave func()
		news, leave = wakes.Subscribe(ctx, c.tenant, c.RunID)
		defer leave()
	}
	w := waiting{s: s, call: c, began: time.Now(), observed: make(chan *outcome, 1)}
	for {
		changed := news()
		if out := w.read(ctx); out != nil {
			return out.result, out.ended, out.err
		}
		if out := w.next(ctx, changed); out != nil {
			return out.result, out.ended, out.err
		}
	}
}

// waiting is a wait for the end of a call.
type waiting struct {
	s     *Service
	call  Call
	began time.Time

	over     bool // The record has an end, without its explanation.
	observed chan *outcome
	asking   bool
	asked    int       // Questions to Temporal since over was set.
	doubt    time.Time // When Temporal is asked next; zero until the first read.
}

// read returns the outcome of the call if its record tells.
func (w *waiting) read(ctx context.Context) *outcome {
	end, err := w.s.cfg.Store.FindCallEnd(ctx, w.call.tenant, w.call.RunID)
	over := tool.KindOf(err) == tool.NotFound && err != nil // Its retention is over.
	if err == nil && end.Status.Final() && !w.call.resumed(end.EndedBy) {
		if out := recorded(&end); out != nil {
			return out
		}
		over = true
	}
	switch {
	case over && !w.over:
		w.over, w.asked, w.doubt = true, 0, time.Now()
	case w.doubt.IsZero():
		w.doubt = w.began.Add(firstDoubt)
	}
	return nil
}

// resumed reports whether an execution other than the one that is open ended the
// call's run: the workflow was reset, and will end the run again.
func (c *Call) resumed(endedBy string) bool {
	return c.open != "" && endedBy != c.open && endedBy != ""
}

// next waits until the record may have changed. It returns the outcome if Temporal
// tells.
func (w *waiting) next(ctx context.Context, changed <-chan struct{}) *outcome {
	if !w.asking && !time.Now().Before(w.doubt) {
		w.ask(ctx)
	}
	elapsed := time.Since(w.began)
	poll := min(max(minPoll, elapsed/2), maxPoll)
	if !w.asking {
		poll = min(poll, time.Until(w.doubt))
	}
	select {
	case <-ctx.Done():
		return &outcome{}
	case <-changed:
	case <-time.After(poll):
		return nil
	case out := <-w.observed:
		w.asking = false
		return out
	}
	select { // A call's first wake-ups are answered at once.
	case <-ctx.Done():
	case <-time.After(min(elapsed/20, maxPause)):
	}
	return nil
}

// ask begins a question to Temporal, whose answer comes to w.observed.
func (w *waiting) ask(ctx context.Context) {
	w.asking = true
	go func() { w.observed <- w.s.observe(ctx, w.call) }()
	after := firstDoubt << min(w.asked, 10)
	if w.over {
		after = min(unexplained<<min(w.asked, 10), maxPoll)
	}
	w.asked++
	w.doubt = time.Now().Add(after)
}

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Handler answers a call. What it returns is sent as JSON: content blocks as a list of
// [tool.Content]. An error is an answer too, which the caller, such as a model, is shown.
// Its context ends when the answer is no longer awaited.
type Handler func(ctx context.Context, call v1.PendingCall) (any, error)

// Executor answers calls of tools of the type client (checklist S1-13, S4-20): it watches
// for them, and submits what its handlers return. Its key needs the permission
// [wait.SubmitPermission].
//
// A call whose answer was lost on the way, because a process ended between both, is answered
// again by the next one, and two executors that answer the same tool both answer: the first
// result counts. A handler that has an effect should use the id of the call to have it once.
type Executor struct {
	Client   *Client            // Required.
	Handlers map[string]Handler // By the slug of the tool. Required.
	// Concurrency bounds the handlers that run at once. Defaults to 16.
	Concurrency int
	Logger      *slog.Logger // Defaults to discarding.
}

const (
	watchTime   = 20 * time.Second
	defaultWide = 16
)

// Run answers calls until ctx ends, then waits for the handlers that are running. It fails
// where watching is of no use, because the key may not do it; it survives a server that is
// away.
func (e *Executor) Run(ctx context.Context) error {
	if e.Client == nil || len(e.Handlers) == 0 {
		return errors.New("client: Executor.Client and Handlers are required")
	}
	log := e.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &answering{
		Executor: e, log: log, taken: map[string]bool{},
		places: make(chan struct{}, cmp.Or(max(e.Concurrency, 0), defaultWide)),
	}
	defer r.running.Wait()
	return r.watch(ctx)
}

// answering is the state of one [Executor.Run].
type answering struct {
	*Executor
	log     *slog.Logger
	places  chan struct{}
	running sync.WaitGroup

	mu    sync.Mutex
	taken map[string]bool // Calls that are being answered, or were.
}

func (r *answering) watch(ctx context.Context) error {
	tools := slices.Sorted(maps.Keys(r.Handlers))
	seen, failures := "", 0
	for {
		open, err := r.Client.WatchCalls(ctx, tools, seen, watchTime)
		switch {
		case ctx.Err() != nil:
			return nil // It was told to stop.
		case err != nil && !temporary(err):
			return fmt.Errorf("watching for calls: %w", err)
		case err != nil:
			r.log.WarnContext(ctx, "watching for calls failed; it is tried again", slog.Any("error", err))
			pause := min(time.Second<<min(failures, 10), slowestRetry)
			failures++
			select {
			case <-ctx.Done():
			case <-time.After(max(pause, tool.AsError(err).RetryAfter)):
			}
			continue
		}
		seen, failures = open.Seen, 0
		r.forget(open.Items)
		for _, call := range slices.Backward(open.Items) { // The oldest first.
			if !r.take(call.ID) {
				continue
			}
			select {
			case r.places <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
			r.running.Go(func() {
				defer func() { <-r.places }()
				if !r.answer(ctx, call) {
					r.release(call.ID)
				}
			})
		}
	}
}

// temporary reports whether a request may succeed later.
func temporary(err error) bool {
	_, unreachable := errors.AsType[*UnreachableError](err)
	kind := tool.KindOf(err)
	return unreachable || kind == tool.Unavailable || kind == tool.RateLimited || kind == tool.Timeout ||
		kind == tool.InternalError
}

func (r *answering) take(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken[id] {
		return false
	}
	r.taken[id] = true
	return true
}

func (r *answering) release(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, id)
}

// forget drops calls that are not open any more: they are not shown again.
func (r *answering) forget(open []v1.PendingCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := make(map[string]bool, len(open))
	for _, c := range open {
		if r.taken[c.ID] {
			kept[c.ID] = true
		}
	}
	r.taken = kept
}

// answer runs the handler of a call and submits its result. It reports whether the call is
// done with.
func (r *answering) answer(ctx context.Context, call v1.PendingCall) bool {
	inTime, cancel := ctx, context.CancelFunc(func() {})
	if call.Status == wait.CallWaiting && call.AnswerBy != nil {
		inTime, cancel = context.WithDeadline(ctx, *call.AnswerBy)
	}
	defer cancel()
	result := r.handle(inTime, call)
	if ctx.Err() != nil { // It was told to stop: what the handler made of that is no answer.
		return false
	}
	for tries := 0; ; tries++ {
		_, err := r.Client.SubmitResult(ctx, call.ID, result)
		switch {
		case err == nil:
			return true
		case tool.KindOf(err) == tool.Invalid && !result.IsError:
			// The answer breaks the output schema. The caller learns why, and does not wait.
			result = failed(fmt.Errorf("the answer was refused: %s", tool.AsError(err).Msg))
		case ctx.Err() != nil || !temporary(err) || tries > 20:
			r.log.WarnContext(ctx, "submitting a result failed",
				slog.String("tool", call.Tool), slog.String("call", call.ID), slog.Any("error", err))
			return !temporary(err)
		default:
			select {
			case <-ctx.Done():
				return false
			case <-time.After(min(200*time.Millisecond<<min(tries, 10), slowestRetry)):
			}
		}
	}
}

// handle returns what the handler of a call answers.
func (r *answering) handle(ctx context.Context, call v1.PendingCall) (result v1.NewResult) {
	defer func() {
		if p := recover(); p != nil {
			r.log.ErrorContext(ctx, "a handler panicked", slog.String("tool", call.Tool), slog.Any("panic", p))
			result = failed(errors.New("the program that answers the tool failed"))
		}
	}()
	value, err := r.Handlers[call.Tool](ctx, call)
	if err != nil {
		return failed(err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return failed(fmt.Errorf("the answer is not JSON: %w", err))
	}
	return v1.NewResult{Result: raw}
}

func failed(err error) v1.NewResult {
	raw, _ := json.Marshal(err.Error()) // A string: it cannot fail.
	return v1.NewResult{Result: raw, IsError: true}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// flush writes how calls ended, and then the records of their nodes.
func (d *graphDriver) flush(ctx context.Context) error {
	detached := context.WithoutCancel(ctx)
	if _, err := d.write(detached, nil); err != nil {
		return err
	}
	d.flushed = time.Now()
	_, err := patiently(detached, admitPatience, func() (struct{}, error) { return struct{}{}, d.memory.flush(detached) })
	return err
}

// begin begins the calls that are due, as many as may be in flight.
func (d *graphDriver) begin(ctx context.Context) error {
	if d.left || d.resting(ctx) != "" {
		return nil
	}
	n := min(len(d.ready), max(maxNodesFlying-d.flying, 0))
	due := d.ready[:n:n]
	d.ready = d.ready[n:]
	calls := make([]graphEnd, len(due))
	var admit []ledger.AdmitRequest
	admitted := map[int]int{} // Places of calls in admit.
	for i, s := range due {
		d.out.Begun++
		in := d.memory.call.NodeCall(s, *d.pinned.Tool(s.Node), time.Now(), d.out.Begun)
		calls[i] = graphEnd{step: s, in: &in, place: d.out.Begun}
		bound, err := d.bind(ctx, in, s)
		if err != nil { // Its attempt ends it, or waits for the database.
			if err := d.flush(ctx); err != nil {
				return err
			}
			continue
		}
		in = bound
		admitted[i] = len(admit)
		admit = append(admit, request(&in))
	}
	at := time.Now()
	done, err := d.write(ctx, admit)
	if err != nil {
		return err
	}
	for i, call := range calls {
		t := d.a.inPlace(call.in, nil, time.Now())
		t.alive, t.doubt = d.alive, d.doubt[call.in.EffectID]
		if place, ok := admitted[i]; ok && done.Tickets[place] != nil {
			t.ticket, t.began = done.Tickets[place], at
		}
		d.call(ctx, t, call)
	}
	if len(d.memory.unwritten) > 0 && time.Since(d.flushed) > nodesDelay {
		return d.flush(ctx)
	}
	return nil
}

// bind returns a call with its arguments, prepared.
func (d *graphDriver) bind(ctx context.Context, in wire.InvokeInput, s flow.Step) (wire.InvokeInput, error) {
	var err error
	if in.Arguments, err = d.memory.arguments(ctx, s); err != nil {
		return in, err
	}
	err = d.a.prepareRaw(ctx, &in)
	return in, err
}

// call makes a call, in a goroutine of its own.
func (d *graphDriver) call(ctx context.Context, t *attempt, end graphEnd) {
	own, cancel := context.WithCancelCause(ctx)
	d.cancels[end.step.Frame] = func() { cancel(temporal.NewCanceledError()) }
	d.flying++
	go func() {
		began := time.Now()
		end.callEnd = guarded(func() callEnd { return d.a.call(own, t, d.resting) })
		end.made.Tool, end.made.Millis = end.in.Pin.String(), time.Since(began).Milliseconds()
		d.ends <- end
	}()
}

// write writes how calls ended, and after them the end of the whole, and admits others. It returns
// the admissions, nil where there is none.
func (d *graphDriver) write(
	ctx context.Context, admit []ledger.AdmitRequest, whole ...ledger.Settlement,
) (loop.Recorded, error) {
	none := loop.Recorded{Tickets: make([]*ledger.Ticket, len(admit))}
	if d.broken != nil {
		return none, d.broken
	}
	if len(d.closing)+len(admit)+len(whole) == 0 {
		return none, nil
	}
	r := loop.Record{Tenant: d.in.Invoke.Principal.Tenant, RunID: d.in.Invoke.RunID, Begin: admit}
	closing := d.closing
	d.closing = nil
	for _, end := range closing {
		r.Ended = append(r.Ended, *end.closing.closing)
	}
	r.Ended = append(r.Ended, whole...)
	var err error
	done, sure := d.a.record(ctx, r)
	for i, end := range closing { // All of them, whatever becomes of one.
		if i >= done.Ended {
			outcome, failed := end.closing.write(ctx, r.Ended[i])
			if failed == nil && !outcome.Won && !same(&outcome, &end.outcome) {
				failed = interruption(errSuperseded) // Later nodes are bound to the answer of another attempt.
			}
			if failed != nil {
				err = cmp.Or(err, failed)
				continue
			}
		}
		d.list(end)
	}
	for i := range admit {
		if !sure {
			d.doubt[admit[i].EffectID]++
		}
	}
	d.broken = err
	return done, err
}

// same reports whether an outcome on record is the one that was to be recorded: the answer to its
// settlement was lost.
func same(recorded, own *ledger.Outcome) bool {
	return recorded.Status == own.Status && recorded.Kind == own.Kind && sameJSON(recorded.Result, own.Result)
}

func sameJSON(a, b any) bool {
	first, err := digestOf(a)
	second, other := digestOf(b)
	return err == nil && other == nil && first == second
}

func digestOf(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return tool.Digest(raw)
}

package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/wire"
)

// admission is an admission that was written before the call is made.
type admission struct {
	ticket ledger.Ticket
	at     time.Time // Before it was asked for.
}

// record writes r as far as the journal does. What is left is written by other ports.
// It is not sure where the answer was lost: then nothing counts as written, but may be.
func (a *Activities) record(ctx context.Context, r loop.Record) (done loop.Recorded, sure bool) {
	none := loop.Recorded{Tickets: make([]*ledger.Ticket, len(r.Begin))}
	if a.Journal == nil || r.RunID == "" {
		return none, true
	}
	// What was admitted must be known, even if the run is cancelled meanwhile.
	done, err := a.Journal.Record(context.WithoutCancel(ctx), r)
	if err != nil {
		logFailure(ctx, "recording steps at once failed", err, "tenant_id", r.Tenant, "run_id", r.RunID)
		return none, false
	}
	return done, true
}

// write writes how calls ended, with the calls that begin and the next question.
func (d *driver) write(ctx context.Context, begin []wire.InvokeInput, ask *loop.Question) error {
	if len(d.closing)+len(begin) == 0 {
		return nil
	}
	r := loop.Record{Tenant: d.in.Principal.Tenant, RunID: d.in.RunID, Ask: ask}
	closing := d.closing
	d.closing = nil
	for _, end := range closing {
		r.Ended = append(r.Ended, *end.closing.closing)
	}
	for i := range begin {
		r.Begin = append(r.Begin, request(&begin[i]))
	}
	at := time.Now()
	done, sure := d.a.record(ctx, r)
	for i, end := range closing {
		s := r.Ended[i]
		outcome := end.outcome
		if i >= done.Ended {
			var err error
			outcome, err = end.closing.write(ctx, s)
			if err == nil && d.over != nil && !outcome.Won && outcome.Result == nil {
				err = interruption(errSuperseded) // What comes after it is another attempt's.
			}
			if err != nil {
				d.closing = closing[i+1:]
				return err
			}
		}
		if d.over != nil {
			d.over(end.call, outcome)
		}
		end.made.Status, end.made.IsError = outcome.Status, outcome.IsError()
		d.out.Calls++
		d.list(end.made)
	}
	d.open = done.Open
	d.keep(begin, done.Tickets, sure, at)
	return nil
}

// keep keeps the admissions of calls that are about to be made.
func (d *driver) keep(calls []wire.InvokeInput, tickets []*ledger.Ticket, sure bool, at time.Time) {
	for i, ticket := range tickets {
		switch {
		case ticket != nil:
			d.tickets[calls[i].EffectID] = admission{ticket: *ticket, at: at}
		case !sure:
			d.doubt[calls[i].EffectID]++
		}
	}
}

// begins reports whether a call may be admitted before its attempt.
func (d *driver) begins(in *wire.InvokeInput) bool {
	return d.makes(in) && !in.Raw && !in.Stored && in.Refused == nil
}

// admit admits the calls that are about to start, with the ends of those before them.
func (d *driver) admit(ctx context.Context, calls []loop.Start) error {
	var begin []wire.InvokeInput
	for _, start := range calls {
		in := d.machine.Call(start.Call)
		_, known := d.tickets[in.EffectID]
		if start.Refuse == nil && !known && d.begins(in) && d.rest(ctx) == "" {
			begin = append(begin, *in)
		}
	}
	return d.write(ctx, begin, nil)
}

// prepare opens the next turn, with the ends of the calls before it.
func (d *driver) prepare(ctx context.Context) error {
	return d.write(ctx, nil, &loop.Question{
		Head: d.machine.Head(), Key: turnKey(activity.GetInfo(ctx), d.machine.Turns()+1),
	})
}

// flush writes how calls ended.
func (d *driver) flush(ctx context.Context) error { return d.write(ctx, nil, nil) }

// save stores a turn, and admits the calls that start with it.
func (d *driver) save(ctx context.Context, turn agent.Turn, plan *agent.Plan) (agent.Turn, error) {
	var begin []wire.InvokeInput
	r := loop.Record{Tenant: d.in.Principal.Tenant, RunID: d.in.RunID, Turn: &turn}
	for _, in := range d.machine.Beginning(plan, answered(&turn)) {
		if d.begins(&in) && d.rest(ctx) == "" {
			begin, r.Begin = append(begin, in), append(r.Begin, request(&in))
		}
	}
	if len(turn.Calls) == 0 {
		end := d.end(ctx, turn.Message.ID, d.machine.Turns()+1)
		r.End = &end
	}
	at := time.Now()
	done, sure := d.a.record(ctx, r)
	d.keep(begin, done.Tickets, sure, at)
	if done.Turn {
		d.recorded = done.End
		return turn, nil
	}
	return patiently(ctx, turnPatience, func() (agent.Turn, error) { return d.a.Runs.SaveTurn(ctx, turn) })
}

// wait waits for the end of a call, and takes up all that have ended. While there are no
// more, it writes the ends.
func (d *driver) wait(ctx context.Context) error {
	if len(d.closing) == 0 {
		if err := d.ended(<-d.ends); err != nil {
			return err
		}
	} else if len(d.ends) == 0 {
		return d.flush(ctx)
	}
	soon := time.NewTimer(together)
	defer soon.Stop()
	for d.flying > 0 {
		select {
		case end := <-d.ends:
			if err := d.ended(end); err != nil {
				return err
			}
		case <-soon.C:
			return nil
		}
	}
	return nil
}

// together is how long the end of a call waits for others that are in progress, so that
// one record has all of them.
const together = 300 * time.Microsecond

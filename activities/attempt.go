package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// maxTicketAge bounds the age of the admission of an Admit activity when its call starts:
// authority must be current, even if no worker was available for some time.
const maxTicketAge = 5 * time.Second

// attempt is one attempt of a call.
type attempt struct {
	a      *Activities
	in     *wire.InvokeInput
	number int          // Counted from 1.
	opened *wire.Opened // Set for a nested call, whose runs or calls the workflow makes.
	began  time.Time    // On the monotonic clock, which continues while a process is frozen.
	fence  int64        // Of this attempt's own admission; zero until then.
	marked bool         // This attempt marked the effect as sent.
	// inPlace is set where the attempt is part of an activity that makes many calls.
	// Another attempt, if one may follow, is the workflow's to make.
	inPlace bool
	retry   *tool.Error // Why another attempt is to follow; nil after any other end.
	// ticket is the admission that was written before the attempt, with something else.
	ticket *ledger.Ticket
	// doubt is how many admissions were asked for whose answer was lost: if they were made,
	// nothing was done with them.
	doubt int
	alive func() error  // Fails where another attempt may have taken over.
	asks  *agent.Asking // Why the call needs an approval that it does not have; nil after any other end.
	waits *wire.Waiting // Set where the call waits for its result from outside.
	// invocation and arguments are those of the admission.
	invocation string
	arguments  json.RawMessage
	leased     time.Time    // When its first slot was taken; zero for a call without a limit.
	slots      []tool.Slots // Limits by profiles, as of its admission.
	// defers leaves the end of an admitted call in closing, to be written with what follows.
	defers  bool
	closing *ledger.Settlement
}

// overtaken fails where the process slept, and another attempt may have taken over.
func (t *attempt) overtaken() error {
	if t.alive == nil {
		return nil
	}
	return t.alive()
}

// run returns the call's outcome, or the encoded error of an attempt after which the call is
// still open.
func (t *attempt) run(ctx context.Context) (ledger.Outcome, error) {
	version, err := t.a.Resolver.Adapted(
		ctx, t.in.Principal.Tenant, t.in.Pin.ToolID, t.in.Pin.Digest, t.in.Pin.Overrides,
	)
	if err != nil {
		return t.fail(ctx, fmt.Errorf("loading %s: %w", t.in.Pin, err))
	}
	if err := t.a.complete(ctx, t.in); err != nil {
		return t.fail(ctx, err)
	}
	free, err := t.takeSlot(ctx)
	if err != nil {
		return t.fail(ctx, err)
	}
	defer free()
	ticket, outcome, ended, err := t.enter(ctx)
	if ended {
		return outcome, err
	}
	if t.in.Pin.Nested() {
		return t.open(ctx, ticket, version)
	}
	if t.in.Pin.Outside {
		return t.offer(ctx, ticket, version)
	}
	freeProfiles, waited, err := t.takeProfileSlots(ctx)
	if err != nil {
		return t.fail(ctx, err)
	}
	defer func() { freeProfiles() }()
	if waited > maxTicketAge { // Authority must be current.
		wanted := t.slots
		t.ticket, t.in.Fence = nil, 0
		t.doubt++ // The admission that it waited with was no attempt.
		if ticket, outcome, ended, err = t.enter(ctx); ended {
			return outcome, err
		}
		if !slices.Equal(wanted, t.slots) {
			return t.fail(ctx, &tool.Error{
				Kind: tool.RateLimited, Op: "activities.Invoke", RetryAfter: minSlotInterval,
				Msg: "the profiles of its tool were changed while the call waited for its turn",
			})
		}
	}
	if !t.in.Pin.Execution.Pure {
		err := t.mark(ctx)
		if tool.KindOf(err) == tool.Conflict {
			return t.lost(ctx)
		}
		if err != nil {
			return t.fail(ctx, err)
		}
	}
	if err := t.keepsSlot(); err != nil {
		return t.fail(ctx, err)
	}
	result, err := t.execute(ctx, ticket, version)
	if err != nil {
		return t.fail(ctx, err)
	}
	return t.settle(ctx, ledger.Settlement{Status: tool.StatusCompleted, Result: result})
}

// enter admits the attempt. It reports whether the attempt ends with that: with an outcome, or with
// an error after which the call is still open.
func (t *attempt) enter(ctx context.Context) (ticket ledger.Ticket, outcome ledger.Outcome, ended bool, err error) {
	ticket, err = t.admit(ctx)
	t.fence, t.invocation, t.arguments = ticket.Fence, ticket.InvocationID, ticket.Arguments
	asks, held := errors.AsType[*asksError](err)
	if held || err == nil {
		if outcome, ended, err := t.outside(ctx, ticket); ended {
			return ticket, outcome, true, err
		}
	}
	switch {
	case held:
		t.asks = &asks.why
		return ticket, ledger.Outcome{InvocationID: ticket.InvocationID, Status: tool.StatusPending}, true, nil
	case err != nil:
	case ticket.Done != nil:
		outcome, err = t.over(ctx, *ticket.Done)
		return ticket, outcome, true, err
	default:
		err = t.outrun(ticket)
	}
	if err == nil && cancelled(ctx) {
		err = context.Cause(ctx)
	}
	if err != nil {
		outcome, err = t.fail(ctx, err)
		return ticket, outcome, true, err
	}
	if t.stale(ctx) {
		return ticket, outcome, true, interruption(errors.New("frozen for longer than the heartbeat timeout"))
	}
	return ticket, outcome, false, nil
}

// outrun counts attempts in place whose process died, and fails where there were too many.
func (t *attempt) outrun(ticket ledger.Ticket) error {
	if !t.inPlace {
		return nil
	}
	t.number = max(t.number, ticket.Attempt-t.doubt)
	if most := t.in.Pin.Execution.Attempts(); t.in.Pin.Execution.Repeatable() && t.number > most && !t.in.Pin.Nested() {
		return &tool.Error{
			Kind: tool.Unavailable, Op: "activities.Invoke", Msg: fmt.Sprintf("none of its %d attempts came to an end", most),
			Sent: true,
		}
	}
	return nil
}

// open starts a nested call. It sends nothing.
func (t *attempt) open(ctx context.Context, ticket ledger.Ticket, version *tool.Version) (ledger.Outcome, error) {
	opened, err := t.a.open(ctx, t.in, ticket, version)
	if err != nil {
		return t.fail(ctx, err)
	}
	t.opened = opened
	return ledger.Outcome{InvocationID: ticket.InvocationID, Status: tool.StatusRunning}, nil
}

// admit admits the attempt, unless it is the first of a call that an Admit activity has just
// admitted. A later attempt needs a fence of its own, so that the previous one can send nothing
// if it resumes; so does one after a reset, because the fence may belong to the run before.
func (t *attempt) admit(ctx context.Context) (ledger.Ticket, error) {
	if t.ticket != nil {
		t.slots = profileSlots(t.in.Pin.ToolID, t.ticket.Policy.Profiles)
		return *t.ticket, t.a.judge(ctx, t.in, *t.ticket)
	}
	info := activity.GetInfo(ctx)
	fresh := time.Since(info.ScheduledTime) < maxTicketAge && t.in.FenceOf == info.WorkflowExecution.RunID
	if t.in.Fence == 0 || info.Attempt > 1 || t.in.Stored || !fresh {
		return patiently(ctx, admitPatience, func() (ledger.Ticket, error) {
			t.began = time.Now() // The wait does not count as frozen.
			ticket, err := t.a.admit(ctx, t.in)
			t.slots = profileSlots(t.in.Pin.ToolID, ticket.Policy.Profiles)
			if tool.KindOf(err) == tool.Unavailable {
				t.doubt++
			}
			return ticket, err
		})
	}
	t.slots = t.in.Slots
	return ledger.Ticket{
		InvocationID: t.in.InvocationID, Fence: t.in.Fence, Followed: t.in.Followed,
		Policy: tool.Policy{EgressClass: t.in.Egress, EgressRules: t.in.EgressRules}, Arguments: t.in.Arguments,
	}, nil
}

// mark marks the effect as sent. If the ledger's answer is lost, the mark may have been made: it
// is reverted and made again, which is safe because nothing is sent before mark returns.
func (t *attempt) mark(ctx context.Context) error {
	_, err := patiently(ctx, admitPatience, func() (struct{}, error) {
		if t.marked {
			if err := t.takeBack(ctx); err != nil {
				return struct{}{}, err
			}
		}
		t.marked = true
		return struct{}{}, t.a.Ledger.MarkSent(ctx, t.in.Principal.Tenant, t.in.EffectID, t.fence)
	})
	return err
}

// takeBack reverts this attempt's own mark, if it was made.
func (t *attempt) takeBack(ctx context.Context) error {
	err := t.a.Ledger.MarkUnsent(ctx, t.in.Principal.Tenant, t.in.EffectID, t.fence)
	if tool.KindOf(err) == tool.Conflict {
		return nil // The mark was not made.
	}
	return err
}

// stale reports whether this process was suspended for so long that Temporal has timed out the
// attempt, and another may have run the call. The fast lane has no heartbeats: there the workflow
// task times out.
func (t *attempt) stale(ctx context.Context) bool {
	info := activity.GetInfo(ctx)
	timeout := info.HeartbeatTimeout
	if info.IsLocalActivity {
		timeout = maxTicketAge
	}
	return ctx.Err() != nil || timeout > 0 && time.Since(t.began) > timeout
}

// execute runs the tool.
func (t *attempt) execute(ctx context.Context, ticket ledger.Ticket, version *tool.Version) (*tool.Result, error) {
	timeout := t.in.Pin.Execution.Timeout()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	say, end := t.a.stream(ctx, agent.Output{
		Tenant: t.in.Principal.Tenant, RunID: t.in.RunID, Turn: t.in.Turn, Attempt: t.number, CallID: t.in.CallID,
	})
	defer end() // Before the settlement, whose event ends the output.
	// A prompt asks its model to stream only if its output is followed.
	if say != nil && (ticket.Followed || t.in.Pin.Implementation != tool.Prompt) {
		ctx = tool.WithOutput(ctx, say)
	}
	result, err := t.a.Executor.Execute(t.withState(ctx), &tool.Call{
		CallIdentity: t.in.CallIdentity, Attempt: t.number, Timeout: timeout, Version: version,
		Builtin: t.in.Pin.Builtin, Egress: ticket.Policy.EgressClass, EgressRules: ticket.Policy.EgressRules,
		Arguments: ticket.Arguments,
	})
	if err == nil && result == nil {
		err = errors.New("the executor returned neither a result nor an error")
	}
	return result, classify(err)
}

// fail ends the attempt with err: as an error that Temporal retries, if that is allowed and may
// help, else as the end of the call.
func (t *attempt) fail(ctx context.Context, err error) (ledger.Outcome, error) {
	e := tool.AsError(err)
	logFailure(ctx, "attempt failed", e, append(callAttrs(t.in), slog.Int("attempt", t.number))...)
	switch {
	case cancelled(ctx):
		e = &tool.Error{
			Kind: tool.Cancelled,
			Op:   "activities.Invoke",
			Msg:  "the call was cancelled",
			Sent: e.Sent,
			Err:  err,
		}
	case ctx.Err() != nil:
		// Temporal has timed out this attempt, or the worker is stopping. Another attempt may
		// be running, so this one must not end the call.
		return ledger.Outcome{}, interruption(err)
	}
	if t.again(ctx, e) && t.unsend(ctx, e) == nil {
		t.retry = e
		return ledger.Outcome{}, failure.Encode(e)
	}
	s := ending(e, t.in.Pin.Execution)
	if t.in.Pin.Sequence() {
		return t.failSteps(ctx, s)
	}
	s.Unsent = t.marked && !e.Sent
	// Without an admission of its own, the attempt does not know what earlier ones sent;
	// the ledger does.
	s.UnknownIfSent = t.fence == 0 && e.Kind != tool.Cancelled && !t.in.Pin.Execution.Repeatable()
	return t.settle(ctx, s)
}

// failSteps ends a composition whose steps an attempt before this one may have begun.
func (t *attempt) failSteps(ctx context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	in := wire.SettleInput{Invoke: *t.in, Status: s.Status, Kind: s.Kind, Msg: s.Msg}
	var err error
	if in.Graph, err = t.a.closeSteps(ctx, &in); err == nil {
		_, err = t.a.gather(ctx, &in, &s, nil)
	}
	if err != nil {
		return ledger.Outcome{}, interruption(err)
	}
	return t.settle(ctx, s)
}

// again reports whether another attempt follows after e.
func (t *attempt) again(ctx context.Context, e *tool.Error) bool {
	return !t.last(ctx) && e.RetryAfter <= failure.MaxRetryDelay && e.MayRetry(t.in.Pin.Execution)
}

// last reports whether no attempt follows this one. After one in the fast lane there is the
// regular activity, unless the tool allows one attempt only.
func (t *attempt) last(ctx context.Context) bool {
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity || t.inPlace {
		return !t.in.Pin.Nested() && t.number >= t.in.Pin.Execution.Attempts() // Opening is safe to retry.
	}
	retry := info.RetryPolicy
	return retry != nil && retry.MaximumAttempts > 0 && info.Attempt >= retry.MaximumAttempts
}

// unsend reverts this attempt's own mark on a call that must not be repeated and was not sent, so
// that its next attempt may send it.
func (t *attempt) unsend(ctx context.Context, e *tool.Error) error {
	if !t.marked || e.Sent || t.in.Pin.Execution.Repeatable() {
		return nil
	}
	_, err := patiently(ctx, admitPatience, func() (struct{}, error) { return struct{}{}, t.takeBack(ctx) })
	return err
}

// lost ends an attempt that must not send, because the call is settled or a later attempt is
// running. The outcome is the one in the ledger.
func (t *attempt) lost(ctx context.Context) (ledger.Outcome, error) {
	return t.settle(ctx, ledger.Settlement{Status: tool.StatusUnknown, Kind: tool.Unknown, Msg: ledger.UnknownMessage})
}

// settle closes the call, even after its deadline. It waits minutes for an unavailable or locked
// database, so that a result is not lost; heartbeats continue meanwhile. In the fast lane, whose
// calls are repeatable, the regular activity takes over.
func (t *attempt) settle(ctx context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	s.Entry, s.Fence, s.Reference = t.in.Entry(), t.fence, t.invocation
	if t.defers && t.fence != 0 && !t.in.Pin.Nested() {
		t.closing = &s
		return ledger.Outcome{}, nil
	}
	return t.write(ctx, s)
}

// write is settle at once.
func (t *attempt) write(ctx context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	patience := settlePatience
	if activity.GetInfo(ctx).IsLocalActivity && t.in.Pin.Execution.Repeatable() {
		patience = fastSettlePatience
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	outcome, err := patiently(ctx, patience, func() (ledger.Outcome, error) { return t.a.Ledger.Settle(ctx, s) })
	if err != nil {
		logFailure(ctx, "settling failed", err, callAttrs(t.in)...)
		if tool.KindOf(err) == tool.Conflict {
			// Another attempt was admitted after this one. This one may have been timed
			// out by Temporal and have resumed late: only the next attempt ends the call.
			return ledger.Outcome{}, interruption(err)
		}
		return ledger.Outcome{}, failure.Encode(fmt.Errorf("settling %s: %w", t.in.Pin, err))
	}
	return t.over(ctx, outcome)
}

// over ends the run that an attempt recorded for a call that ended otherwise.
func (t *attempt) over(ctx context.Context, outcome ledger.Outcome) (ledger.Outcome, error) {
	if err := t.a.unopen(ctx, t.in, outcome); err != nil {
		logFailure(ctx, "ending the run of an ended call failed", err, callAttrs(t.in)...)
		return ledger.Outcome{}, failure.Encode(err)
	}
	return outcome, nil
}

package telemetry

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// Moves that another attempt may make first.
const (
	markSent   = "mark_sent"
	markUnsent = "mark_unsent"
	settle     = "settle"
)

// Ledger counts the moves and settlements of a ledger.
func (t *Telemetry) Ledger(l ledger.Ledger) ledger.Ledger {
	if t.metrics.off {
		return l
	}
	return &observedLedger{next: l, m: t.metrics}
}

type observedLedger struct {
	next ledger.Ledger
	m    *metrics
}

func (l *observedLedger) Admit(ctx context.Context, req ledger.AdmitRequest) (ledger.Ticket, error) {
	ticket, err := l.next.Admit(ctx, req)
	if err == nil && ticket.Done == nil {
		l.admitted(ctx, req)
	}
	return ticket, err
}

func (l *observedLedger) MarkSent(ctx context.Context, tenant tool.TenantID, effectID string, fence int64) error {
	err := l.next.MarkSent(ctx, tenant, effectID, fence)
	l.tried(ctx, markSent, tool.PhaseSent, err)
	return err
}

func (l *observedLedger) MarkUnsent(ctx context.Context, tenant tool.TenantID, effectID string, fence int64) error {
	err := l.next.MarkUnsent(ctx, tenant, effectID, fence)
	l.tried(ctx, markUnsent, tool.PhaseAdmitted, err)
	return err
}

func (l *observedLedger) Settle(ctx context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	outcome, err := l.next.Settle(ctx, s)
	switch {
	case err == nil && outcome.Won:
		l.settled(ctx, s, outcome)
	case err == nil || tool.KindOf(err) == tool.Conflict:
		l.m.add(ctx, l.m.lost, 1, labels{{moveLabel, settle}})
	}
	return outcome, err
}

func (l *observedLedger) Records(
	ctx context.Context, tenant tool.TenantID, effectIDs []string,
) (map[string]ledger.Record, error) {
	return l.next.Records(ctx, tenant, effectIDs)
}

func (l *observedLedger) tried(ctx context.Context, move string, phase tool.Phase, err error) {
	switch {
	case err == nil:
		l.moved(ctx, phase)
	case tool.KindOf(err) == tool.Conflict:
		l.m.add(ctx, l.m.lost, 1, labels{{moveLabel, move}})
	}
}

func (l *observedLedger) moved(ctx context.Context, phase tool.Phase) {
	l.m.add(ctx, l.m.transitions, 1, labels{{phaseLabel, string(phase)}})
}

// ended counts an ended call.
func (m *metrics) ended(ctx context.Context, impl tool.Implementation, status tool.InvocationStatus, kind tool.Kind) {
	m.add(ctx, m.calls, 1, labels{
		{implementationLabel, m.implementationOf(impl)}, {statusLabel, string(status)}, {kindLabel, kindOf(kind)},
	})
}

// Runs counts the calls that a turn refuses, which are never settled.
func (t *Telemetry) Runs(r agent.Runs) agent.Runs {
	if t.metrics.off {
		return r
	}
	return &observedRuns{Runs: r, m: t.metrics}
}

type observedRuns struct {
	agent.Runs
	m *metrics
}

func (r *observedRuns) SaveTurn(ctx context.Context, turn agent.Turn) (agent.Turn, error) {
	stored, err := r.Runs.SaveTurn(ctx, turn)
	if err != nil || stored.Message.ID != turn.Message.ID { // Another attempt stored it.
		return stored, err
	}
	for _, c := range stored.Calls {
		if c.Refused != nil {
			r.m.ended(ctx, "", tool.EndStatus(c.Refused.Kind), c.Refused.Kind)
		}
	}
	return stored, nil
}

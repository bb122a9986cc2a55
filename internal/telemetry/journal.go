package telemetry

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
)

// Journal counts the moves and settlements that a journal records.
func (t *Telemetry) Journal(j loop.Journal) loop.Journal {
	if t.metrics.off {
		return j
	}
	return &observedJournal{next: j, ledger: &observedLedger{m: t.metrics}}
}

type observedJournal struct {
	next   loop.Journal
	ledger *observedLedger
}

func (j *observedJournal) Begin(
	ctx context.Context, run agent.Run, key string,
) (agent.Run, *agent.OpenTurn, error) {
	return j.next.Begin(ctx, run, key)
}

func (j *observedJournal) Record(ctx context.Context, r loop.Record) (loop.Recorded, error) {
	done, err := j.next.Record(ctx, r)
	if err != nil {
		return done, err
	}
	for _, s := range r.Ended[:done.Ended] {
		j.ledger.settled(ctx, s, ledger.Outcome{Status: s.Status, Kind: s.Kind})
	}
	for i, ticket := range done.Tickets {
		if ticket != nil {
			j.ledger.admitted(ctx, r.Begin[i])
		}
	}
	return done, nil
}

// admitted counts an admission.
func (l *observedLedger) admitted(ctx context.Context, req ledger.AdmitRequest) {
	phase := tool.PhaseAdmitted
	if req.Send {
		phase = tool.PhaseSent
	}
	l.moved(ctx, phase)
}

// settled counts the end of a call.
func (l *observedLedger) settled(ctx context.Context, s ledger.Settlement, outcome ledger.Outcome) {
	l.moved(ctx, tool.PhaseDone)
	l.m.ended(ctx, s.Implementation, outcome.Status, outcome.Kind)
}

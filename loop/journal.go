package loop

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// Journal records what a driver did and what it does next, in one round trip and one
// transaction. It takes the common case only: what it leaves is done by the ports that do
// one thing each, [ledger.Ledger] and [agent.Runs], with the same effect. Package store
// implements it; implementations are safe for concurrent use.
type Journal interface {
	// Begin is [agent.Runs.BeginRun] for a run of an agent, and opens its first turn, which
	// has the given key. The turn is nil where it was not opened.
	Begin(ctx context.Context, run agent.Run, key string) (agent.Run, *agent.OpenTurn, error)

	// Record writes a part of r from its beginning: calls that ended, then the turn, the
	// calls that begin, and the question or the end. What follows something that it leaves is left
	// too, but for calls that begin, which do not depend on one another.
	//
	// After an error it is not known what was written. It is safe to do all of r by the
	// other ports then: they find what was written.
	Record(ctx context.Context, r Record) (Recorded, error)
}

// Record is what a driver writes at once. Every part is optional.
type Record struct {
	Tenant tool.TenantID
	RunID  string
	Ended  []ledger.Settlement
	Turn   *agent.Turn           // The model's answer.
	Begin  []ledger.AdmitRequest // Calls, with arguments that are not stored elsewhere.
	Ask    *Question             // What the model is asked next; its turn is opened.
	End    *agent.RunEnd         // With a turn that completes the run.
}

// Question is what a model is asked: what comes after a message.
type Question struct {
	Head string // The message to answer.
	Key  string // Of the turn that answers it, as in [agent.Turn].
}

// Recorded is what was written of a [Record].
type Recorded struct {
	Ended   int              // How many of the calls that ended, from the first.
	Turn    bool             // Whether this record stored the turn.
	Tickets []*ledger.Ticket // For each call that begins; nil where it was not admitted.
	Open    *agent.OpenTurn  // The opened turn, with the request to cancel its run; nil where it was not.
	End     bool             // Whether the run ended.
}

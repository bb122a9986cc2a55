package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// purgeBatch is the number of runs deleted in one transaction.
	purgeBatch = 200
	// minRetention is the minimum time to keep ended runs: the lifetime of an
	// Idempotency-Key.
	minRetention = 24 * time.Hour
)

// PurgeRuns deletes the runs of all tenants that ended before a time, at least a day
// ago, with their messages, events, output, calls and ledger rows, whatever the rules of
// retention are. Effects that may have changed something outside stay, and go by their own
// rule: their calls are not repeated. What something open needs is never deleted. It returns
// the number of deleted runs. Each batch
// commits by itself, so that it can be interrupted and resumed; concurrent calls are
// safe. It fails with tool.Invalid for a later time.
func (p *Platform) PurgeRuns(ctx context.Context, endedBefore time.Time) (int, error) {
	const op = "store.PurgeRuns"
	if time.Since(endedBefore) < minRetention {
		return 0, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "runs are kept for at least a day after their end"}
	}
	total := 0
	for {
		var purged int32
		err := p.store.do(ctx, op, "", func(q *db.Queries) (err error) {
			purged, err = q.PurgeRuns(ctx, db.PurgeRunsParams{EndedBefore: endedBefore, Most: purgeBatch})
			return err
		})
		total += int(purged)
		if err != nil || purged == 0 {
			return total, err
		}
	}
}

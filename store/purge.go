package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// purgeBatch is how many runs are deleted in one transaction.
	purgeBatch = 200
	// minRetention is how long every ended run is kept: for as long as a request
	// may be repeated under its Idempotency-Key.
	minRetention = 24 * time.Hour
)

// PurgeRuns deletes the runs of all tenants that ended before a time, at least
// a day ago, with their messages, events, output, calls, and the rows of the
// effect ledger of those: a call that is repeated after that is made again. It
// returns how many runs it deleted. Each batch commits by itself, so that it can
// break off and go on, and several may run at once. It fails with tool.Invalid
// for a later time.
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

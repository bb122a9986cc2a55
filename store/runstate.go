package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ReadState implements [ledger.States].
func (s *Store) ReadState(ctx context.Context, by ledger.StateOwner, key string) (tool.StateValue, error) {
	var out tool.StateValue
	err := s.do(ctx, "store.ReadState", by.Tenant, func(q *db.Queries) error {
		row, err := q.ReadState(ctx, db.ReadStateParams{
			TenantID: string(by.Tenant), RunID: by.RunID, Key: text(key), EffectID: by.EffectID, Fence: by.Fence,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		out = tool.StateValue{Value: row.Value, Revision: row.Revision}
		return err
	})
	return out, err
}

// WriteState implements [ledger.States].
func (s *Store) WriteState(
	ctx context.Context, by ledger.StateOwner, change tool.StateChange,
) (tool.StateValue, error) {
	const op = "store.WriteState"
	var row db.WriteStateRow
	err := s.inTx(ctx, op, by.Tenant, func(q *db.Queries) error {
		err := q.LockState(ctx, by.RunID)
		if err != nil {
			return err
		}
		row, err = q.WriteState(ctx, db.WriteStateParams{
			TenantID: string(by.Tenant), RunID: by.RunID, Key: text(change.Key), Value: change.Value, EffectID: by.EffectID,
			Fence: by.Fence, Expected: change.If, MaxKeys: tool.MaxStateKeys, MaxBytes: tool.MaxState,
		})
		return err
	})
	if err != nil {
		return tool.StateValue{}, err
	}
	refuse := func(kind tool.Kind, format string, args ...any) (tool.StateValue, error) {
		return tool.StateValue{}, &tool.Error{Kind: kind, Op: op, Msg: fmt.Sprintf(format, args...)}
	}
	switch row.Verdict {
	case "stale":
		return refuse(tool.Conflict, "the state of the run is not changed: the call has ended, or another attempt of it runs")
	case "changed":
		return refuse(tool.Conflict, "the value of %q was changed meanwhile: get it again", change.Key)
	case "keys":
		return refuse(tool.Invalid, "the state of a run has at most %d keys, deleted ones included", tool.MaxStateKeys)
	case "bytes":
		return refuse(tool.Invalid, "the state of a run has at most %d KiB: delete what is not needed, or keep references",
			tool.MaxState>>10)
	default:
		return tool.StateValue{Value: change.Value, Revision: row.Revision}, nil
	}
}

package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// maxWokenBy bounds the messages that an agent is woken by; it reads the others.
const maxWokenBy = 20

// ClaimWakes implements [space.Wakes].
func (s *Store) ClaimWakes(ctx context.Context, limit int, lease time.Duration) ([]space.WakeKey, error) {
	const op = "store.ClaimWakes"
	if err := checkLease(op, lease); err != nil {
		return nil, err
	}
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.ClaimSpaceWakes(ctx, db.ClaimSpaceWakesParams{Most: number(limit), LeaseS: lease.Seconds()})
		return err
	})
	if err != nil {
		return nil, err
	}
	var keys []space.WakeKey
	return keys, decode(raw, &keys)
}

// DeliverWake implements [space.Wakes].
func (s *Store) DeliverWake(
	ctx context.Context, key space.WakeKey, render func(space.Wake) string,
) (begin *space.Wake, err error) {
	const op = "store.DeliverWake"
	if !tool.ValidID(key.SpaceID) || !tool.ValidID(key.AgentID) {
		return nil, notFound(op, spaceUnknown)
	}
	var run string
	err = s.inTx(ctx, op, key.Tenant, func(q *db.Queries) error {
		begin, run = nil, ""
		going, err := runOfWake(ctx, q.LockRunOfWake, db.LockRunOfWakeParams(wakeParams(key)))
		if err != nil {
			return err
		}
		w, row, err := lockWake(ctx, q, key)
		if w == nil || err != nil {
			return err
		}
		now, err := runOfWake(ctx, q.FindRunOfWake, db.FindRunOfWakeParams(wakeParams(key)))
		switch {
		case err != nil:
			return err
		case now != going: // A run began or ended, or the authority changed, before the wake was locked.
			return errRaced
		case len(w.Messages) == 0: // Nothing that it may be told.
			return endWake(ctx, q, *w)
		case going == "":
			begin = w
			return nil
		}
		run = going
		params, err := inboxParams(op, agent.InboxItem{
			Tenant: key.Tenant, RunID: run, Kind: agent.InboxMessage, Content: []tool.Content{tool.Text(render(*w))},
			By: key.Subject,
		})
		if err != nil {
			return err
		}
		params.SpaceID, params.FromSeq, params.UptoSeq, params.Hops = &row.SpaceID, &row.FromSeq, &row.UptoSeq, &row.Hops
		if _, err := q.AddInboxItem(ctx, params); err != nil { // The run is locked: it goes on.
			return err
		}
		err = q.SetRunHops(ctx, db.SetRunHopsParams{TenantID: string(key.Tenant), RunID: run, Hops: row.Hops})
		if err != nil {
			return err
		}
		return endWake(ctx, q, *w)
	})
	if err == nil && run != "" {
		s.wake(key.Tenant, run)
	}
	return begin, err
}

// AcceptWokenRun implements [runs.Store]. The wake ends with the record of its run: were it ended
// afterwards, a server that dies in between would leave it to another, which would tell the run again
// what it began with.
func (s *Store) AcceptWokenRun(ctx context.Context, a agent.Acceptance, w space.Wake) (agent.Run, error) {
	const op = "store.AcceptWokenRun"
	if err := checkIDs(op, w.SpaceID, w.AgentID); err != nil {
		return agent.Run{}, err
	}
	var wake db.SpaceWake
	return s.accept(ctx, op, a, func(q *db.Queries) error {
		found, err := q.LockSpaceWake(ctx, db.LockSpaceWakeParams{
			TenantID: string(a.Run.Tenant), SpaceID: w.SpaceID, AgentID: w.AgentID, Subject: w.Subject,
		})
		if errors.Is(err, pgx.ErrNoRows) || err == nil && found.SpaceWake.RunID != w.RunID {
			return &tool.Error{Kind: tool.NotFound, Op: op, Msg: space.ErrWakeOver.Error(), Err: space.ErrWakeOver}
		}
		if err != nil {
			return err
		}
		if found.Lapsed {
			return &tool.Error{Kind: tool.Denied, Op: op, Msg: "the API key that the message was posted with was revoked " +
				"or has expired: post it again with another"}
		}
		err = q.AnnounceWokenRun(ctx, db.AnnounceWokenRunParams{
			TenantID: string(a.Run.Tenant), RunID: w.RunID, SpaceID: w.SpaceID, Hops: found.SpaceWake.Hops,
		})
		if err != nil {
			return err
		}
		wake = found.SpaceWake
		return endWake(ctx, q, w)
	}, func(q *db.Queries) error {
		return q.TaintWokenRun(ctx, db.TaintWokenRunParams{
			TenantID: string(a.Run.Tenant), RunID: w.RunID, SpaceID: w.SpaceID, FromSeq: wake.FromSeq, UptoSeq: wake.UptoSeq,
		})
	})
}

func wakeParams(key space.WakeKey) db.LockSpaceWakeParams {
	return db.LockSpaceWakeParams{
		TenantID: string(key.Tenant), SpaceID: key.SpaceID, AgentID: key.AgentID, Subject: key.Subject,
	}
}

// runOfWake returns the run that takes a wake up, as a query finds it; empty where none goes on.
func runOfWake[P any](ctx context.Context, find func(context.Context, P) (string, error), params P) (string, error) {
	id, err := find(ctx, params)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// lockWake returns a wake with what the agent is woken by; nil where it is over, or its tenant is
// suspended.
func lockWake(ctx context.Context, q *db.Queries, key space.WakeKey) (*space.Wake, db.SpaceWake, error) {
	found, err := q.LockSpaceWake(ctx, wakeParams(key))
	row := found.SpaceWake
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, row, nil
	}
	if err != nil {
		return nil, row, err
	}
	rows, err := q.ListWakeMessages(ctx, db.ListWakeMessagesParams{
		TenantID: row.TenantID, SpaceID: row.SpaceID, Subject: row.Subject, FromSeq: row.FromSeq, UptoSeq: row.UptoSeq,
		Agent: found.Agent, Limit: maxWokenBy,
	})
	if err != nil {
		return nil, row, err
	}
	w := &space.Wake{
		WakeKey: key, Space: space.Space{ID: row.SpaceID, Tenant: key.Tenant, Slug: found.Space, Name: found.SpaceName},
		Agent: found.Agent, RunID: row.RunID, UptoSeq: row.UptoSeq, Attempts: int(row.Attempts),
		Principal: tool.Principal{
			Tenant: key.Tenant, Subject: row.Subject, Permissions: row.Permissions, Scopes: row.Scopes,
		},
		Messages: convert(rows, spaceMessageOf),
	}
	slices.Reverse(w.Messages)
	return w, row, nil
}

func endWake(ctx context.Context, q *db.Queries, w space.Wake) error {
	return q.EndSpaceWake(ctx, db.EndSpaceWakeParams{
		TenantID: string(w.Tenant), SpaceID: w.SpaceID, AgentID: w.AgentID, Subject: w.Subject, LastSeq: w.UptoSeq,
		RunID: w.RunID,
	})
}

// EndWake implements [space.Wakes].
func (s *Store) EndWake(ctx context.Context, w space.Wake, reason string) error {
	const op = "store.EndWake"
	if !tool.ValidID(w.SpaceID) || !tool.ValidID(w.AgentID) || !tool.ValidID(w.RunID) {
		return notFound(op, spaceUnknown)
	}
	err := s.inTx(ctx, op, w.Tenant, func(q *db.Queries) error {
		if err := endWake(ctx, q, w); err != nil || reason == "" {
			return err
		}
		return q.ExplainSpaceWake(ctx, db.ExplainSpaceWakeParams{
			TenantID: string(w.Tenant), SpaceID: w.SpaceID, Seq: w.UptoSeq, Reason: text(reason),
		})
	})
	if err == nil && reason != "" {
		s.wake(w.Tenant, w.SpaceID)
	}
	return err
}

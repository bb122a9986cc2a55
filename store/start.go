package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// exactFrom is the distance to the limit at which acceptances of a tenant are
// serialized. Further away they run concurrently: to exceed the limit, this many would
// have to run at the same moment.
const exactFrom = 256

// busyRetry is the least Retry-After for a tenant at its limit, and a random part of as
// much is added: what was refused at once is not to return at once. Runs take seconds to
// minutes, so retrying earlier rarely helps.
const busyRetry = 5 * time.Second

// AcceptRun records a pending run together with the start of its workflow, in one
// transaction. An empty run id is generated. It fails with tool.Conflict when the run,
// or a pending run of the same workflow id, exists already, and with tool.RateLimited
// when the tenant has as many unfinished runs as its own limit says or, without one,
// a.MaxUnfinished: the failure says the limit, how many there are, and when to retry.
func (s *Store) AcceptRun(ctx context.Context, a agent.Acceptance) (agent.Run, error) {
	return s.accept(ctx, "store.AcceptRun", a, nil, nil)
}

// accept records a run between what before and after do in the same transaction; nil for nothing.
func (s *Store) accept(
	ctx context.Context, op string, a agent.Acceptance, before, after func(q *db.Queries) error,
) (agent.Run, error) {
	params, err := acceptParams(op, a)
	if err != nil {
		return agent.Run{}, err
	}
	row, err := s.acceptRun(ctx, op, a, params, before, after)
	if err != nil {
		return agent.Run{}, explain(err, tool.Conflict, "the run exists already")
	}
	return runOf(db.Run(row))
}

// acceptRun serializes acceptances of a tenant only near its limit.
func (s *Store) acceptRun(
	ctx context.Context, op string, a agent.Acceptance, params db.AcceptRunParams,
	before, after func(q *db.Queries) error,
) (row db.AcceptRunRow, err error) {
	accept := func(q *db.Queries) error {
		if before != nil {
			if err := before(q); err != nil {
				return err
			}
		}
		row, err = q.AcceptRun(ctx, params)
		if err == nil && after != nil {
			err = after(q)
		}
		if err != nil || !a.TakeInbox || params.ContinuesRunID == nil {
			return err
		}
		return q.MoveInbox(ctx, db.MoveInboxParams{
			TenantID: params.TenantID, FromRunID: *params.ContinuesRunID, ToRunID: params.ID,
		})
	}
	do := s.do
	if a.TakeInbox || before != nil {
		do = s.inTx
	}
	params.Bound, params.Margin = number(a.MaxUnfinished), exactFrom
	if err = do(ctx, op, a.Run.Tenant, accept); !errors.Is(err, pgx.ErrNoRows) {
		return row, err
	}
	params.Margin = 0
	err = s.inTx(ctx, op, a.Run.Tenant, func(q *db.Queries) error {
		if err := q.LockAcceptance(ctx, params.TenantID); err != nil {
			return err
		}
		err := accept(q)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		found, err := q.CountUnfinishedRuns(ctx, db.CountUnfinishedRunsParams{
			TenantID: params.TenantID, Bound: params.Bound,
		})
		if err != nil {
			return err
		}
		return &tool.Error{
			Kind: tool.RateLimited, Op: op,
			RetryAfter: busyRetry + rand.N(busyRetry), //nolint:gosec // It spreads retries; it is no secret.
			Err:        &quota.ExceededError{Name: quota.Runs, Limit: int64(found.Most), Used: found.N, More: 1},
			Msg: fmt.Sprintf("the tenant has %d unfinished runs, and its limit is %d: wait until some end, cancel some, "+
				"or ask the operator for a higher limit", found.N, found.Most),
		}
	})
	return row, err
}

func acceptParams(op string, a agent.Acceptance) (db.AcceptRunParams, error) {
	var none db.AcceptRunParams
	run, err := runParams(a.Run)
	if err != nil {
		return none, err
	}
	memo, err := encodePayload(a.Start.Memo)
	if err != nil {
		return none, err
	}
	params := db.AcceptRunParams{
		ID: run.ID, TenantID: run.TenantID, Kind: run.Kind, AgentID: run.AgentID, Agent: run.Agent,
		AgentVersion: run.AgentVersion,
		Mode:         run.Mode, Subject: run.Subject, Permissions: run.Permissions, Scopes: run.Scopes, Input: run.Input,
		WorkflowID: run.WorkflowID, Workflow: text(a.Start.Workflow), TaskQueue: text(a.Start.TaskQueue),
		Summary: text(a.Start.Summary),
		Memo:    memo, StartInput: a.Start.Input, LeaseS: a.Lease.Seconds(), FollowS: a.Run.FollowFor.Seconds(),
		ByLink: a.Run.ByLink, Tool: text(a.Run.Tool),
	}
	if t := a.Run.Taint; t != nil {
		began := *t
		began.Turn, began.Rule = 0, ""
		if params.Taint, err = encodePayload(began); err != nil {
			return none, err
		}
	}
	if c := a.Run.Continues; c != nil {
		params.ContinuesRunID, params.ContinuesTurn = &c.RunID, new(number(c.Turn))
	}
	params.TakenOver = []string{}
	for _, m := range a.Before {
		params.TakenOver = append(params.TakenOver, m.ID)
	}
	if a.First != nil {
		id, err := idOrNew(a.First.ID)
		if err != nil {
			return none, err
		}
		params.MessageID, params.Role, params.ParentID = &id, string(a.First.Role), optional(a.First.ParentID)
		if params.Role == "" {
			params.Role = string(agent.RoleUser)
		}
		if params.Content, err = contentBlocks(a.First.Content); err != nil {
			return none, err
		}
	}
	ids := append([]string{
		params.ID, a.Run.AgentID, value(params.MessageID), value(params.ParentID), value(params.ContinuesRunID),
	}, params.TakenOver...)
	return params, checkIDs(op, ids...)
}

// AddStart records the start of a workflow that has no run, with a lease for the
// caller, and reports whether it is the first of its workflow id.
func (s *Store) AddStart(ctx context.Context, start agent.Start, lease time.Duration) (bool, error) {
	const op = "store.AddStart"
	memo, err := encodePayload(start.Memo)
	if err := errors.Join(err, checkLease(op, lease)); err != nil {
		return false, err
	}
	added, err := ask(ctx, s.do, op, start.Tenant, (*db.Queries).AddStart, db.AddStartParams{
		TenantID: string(start.Tenant), WorkflowID: text(start.WorkflowID), Workflow: text(start.Workflow),
		TaskQueue: text(start.TaskQueue), Summary: text(start.Summary), Memo: memo, Agent: text(start.Agent),
		Input: start.Input, LeaseS: lease.Seconds(),
	})
	return added > 0, explain(err, tool.NotFound, "tenant not found")
}

// FindStart returns a start that Temporal has not confirmed. It fails with
// tool.NotFound.
func (s *Store) FindStart(ctx context.Context, key agent.StartKey) (agent.Start, error) {
	const op = "store.FindStart"
	row, err := ask(ctx, s.do, op, key.Tenant, (*db.Queries).FindStart, db.FindStartParams{
		TenantID: string(key.Tenant), WorkflowID: text(key.WorkflowID),
	})
	if err != nil {
		return agent.Start{}, explain(err, tool.NotFound, "no start is pending")
	}
	start := agent.Start{
		Tenant: tool.TenantID(row.TenantID), WorkflowID: row.WorkflowID, RunID: value(row.RunID), Workflow: row.Workflow,
		TaskQueue: row.TaskQueue, Summary: row.Summary, Agent: row.Agent, Input: row.Input, Attempts: int(row.Attempts),
		LastError: row.LastError, RunStatus: agent.RunStatus(row.RunStatus), CreatedAt: row.CreatedAt,
	}
	return start, decode(row.Memo, &start.Memo)
}

// ClaimStarts claims at most limit due starts of any tenant, for the length of lease,
// and returns their keys and the oldest start's age. Starts that another process
// has claimed are left out.
func (s *Store) ClaimStarts(ctx context.Context, limit int, lease time.Duration) ([]agent.StartKey, error) {
	const op = "store.ClaimStarts"
	if err := checkLease(op, lease); err != nil {
		return nil, err
	}
	var raw []byte
	err := s.doGlobal(ctx, op, func(q *db.Queries) (err error) {
		raw, err = q.ClaimStarts(ctx, db.ClaimStartsParams{Most: number(limit), LeaseS: lease.Seconds()})
		return err
	})
	if err != nil {
		return nil, err
	}
	var claimed []agent.StartKey
	return claimed, decode(raw, &claimed)
}

// CountStarts counts the starts that Temporal has not confirmed, over all tenants.
func (s *Store) CountStarts(ctx context.Context) (agent.StartBacklog, error) {
	var backlog agent.StartBacklog
	var raw []byte
	err := s.doGlobal(ctx, "store.CountStarts", func(q *db.Queries) (err error) {
		raw, err = q.CountStarts(ctx)
		return err
	})
	if err != nil {
		return backlog, err
	}
	return backlog, decode(raw, &backlog)
}

// QueueDepths counts the runs and calls that wait and run, over all tenants, and names
// at most as many tenants as most says.
func (s *Store) QueueDepths(ctx context.Context, most int) (agent.QueueDepths, error) {
	var depths agent.QueueDepths
	var raw []byte
	err := s.doGlobal(ctx, "store.QueueDepths", func(q *db.Queries) (err error) {
		raw, err = q.QueueDepths(ctx, number(most))
		return err
	})
	if err != nil {
		return depths, err
	}
	return depths, decode(raw, &depths)
}

// DeleteStart deletes a start after Temporal has accepted the workflow. It is
// idempotent.
func (s *Store) DeleteStart(ctx context.Context, start agent.Start) error {
	return s.do(ctx, "store.DeleteStart", start.Tenant, func(q *db.Queries) error {
		_, err := q.DeleteStart(ctx, db.DeleteStartParams{
			TenantID: string(start.Tenant), WorkflowID: text(start.WorkflowID), RunID: optional(start.RunID),
		})
		return err
	})
}

// PostponeStart schedules the next attempt after delay, and records why this one did
// not start the workflow. It does nothing where another attempt has claimed the start
// meanwhile.
func (s *Store) PostponeStart(ctx context.Context, start agent.Start, delay time.Duration, reason string) error {
	return s.do(ctx, "store.PostponeStart", start.Tenant, func(q *db.Queries) error {
		_, err := q.PostponeStart(ctx, db.PostponeStartParams{
			TenantID: string(start.Tenant), WorkflowID: text(start.WorkflowID), Attempts: number(start.Attempts),
			DelayS: delay.Seconds(), LastError: text(reason),
		})
		return err
	})
}

// EndPendingRun ends a run that has not started and deletes its start, and reports
// whether it did: a run that has started or ended is unchanged. If a workflow of the
// run starts later, it finds the run ended and executes nothing.
func (s *Store) EndPendingRun(ctx context.Context, end agent.RunEnd) (bool, error) {
	return s.endPendingRun(ctx, end, nil)
}

// EndStart is EndPendingRun for the attempt that holds the start: it changes nothing
// where another attempt has claimed the start meanwhile.
func (s *Store) EndStart(ctx context.Context, start agent.Start, end agent.RunEnd) (bool, error) {
	end.Tenant, end.RunID = start.Tenant, start.RunID
	fence := number(start.Attempts)
	return s.endPendingRun(ctx, end, &fence)
}

func (s *Store) endPendingRun(ctx context.Context, end agent.RunEnd, fence *int32) (ended bool, err error) {
	const op = "store.EndPendingRun"
	if !end.Status.Final() {
		return false, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a run cannot end as " + string(end.Status)}
	}
	if !tool.ValidID(end.RunID) {
		return false, notFound(op, "run not found")
	}
	event, err := encodePayload(agent.RunEnded{Status: end.Status, Kind: end.Kind, Reason: end.Msg})
	if err != nil {
		return false, err
	}
	err = s.do(ctx, op, end.Tenant, func(q *db.Queries) (err error) {
		ended, err = q.EndPendingRun(ctx, db.EndPendingRunParams{
			TenantID: string(end.Tenant), ID: end.RunID, Fence: fence, Status: string(end.Status), ErrorKind: string(end.Kind),
			Error: text(end.Msg), EventType: string(runEndEvent(end.Status)), EventData: event,
		})
		return err
	})
	if ended {
		s.wakeEnd(end.Tenant, end.RunID)
	}
	return ended, err
}

// FindRunOfWorkflow returns the latest tool call run of a workflow id. It fails with
// tool.NotFound.
func (s *Store) FindRunOfWorkflow(ctx context.Context, tenant tool.TenantID, workflowID string) (agent.Run, error) {
	const op = "store.FindRunOfWorkflow"
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindRunOfWorkflow, db.FindRunOfWorkflowParams{
		TenantID: string(tenant), WorkflowID: text(workflowID),
	})
	if err != nil {
		return agent.Run{}, explain(err, tool.NotFound, "run not found")
	}
	return runOf(row)
}

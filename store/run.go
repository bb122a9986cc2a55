package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateRun implements [agent.Runs]. Empty ids are generated; that of the first
// message is derived from the run's. It fails with tool.Conflict when the run exists
// already, and with tool.NotFound when its parent call has ended.
func (s *Store) CreateRun(ctx context.Context, run agent.Run, first agent.Message) (agent.Run, error) {
	const op = "store.CreateRun"
	params, err := runParams(run)
	if err != nil {
		return agent.Run{}, err
	}
	messageID := cmp.Or(first.ID, ledger.FirstMessageID(params.ID))
	if first.Role == "" {
		first.Role = agent.RoleUser
	}
	blocks, err := contentBlocks(first.Content)
	if err != nil {
		return agent.Run{}, err
	}
	var parent agent.Parent
	if run.Parent != nil {
		parent = *run.Parent
	}
	if err := checkIDs(op, params.ID, run.AgentID, messageID, parent.RunID, parent.InvocationID); err != nil {
		return agent.Run{}, err
	}
	var row db.CreateRunRow
	err = s.do(ctx, op, run.Tenant, func(q *db.Queries) error {
		row, err = q.CreateRun(ctx, db.CreateRunParams{
			ID: params.ID, TenantID: params.TenantID, Kind: params.Kind, AgentID: params.AgentID, Agent: params.Agent,
			AgentVersion: params.AgentVersion, Mode: params.Mode, Subject: params.Subject, Permissions: params.Permissions,
			Scopes: params.Scopes, Input: params.Input, WorkflowID: params.WorkflowID, FirstRunID: params.FirstRunID,
			MessageID: &messageID, Plan: params.Plan, Role: string(first.Role), Content: blocks,
			ParentRunID: optional(parent.RunID), ParentInvocationID: optional(parent.InvocationID), Detached: parent.Detached,
			Depth: number(run.Depth),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound(op, "the parent call of the run has ended")
		}
		return err
	})
	if err != nil {
		return agent.Run{}, explain(err, tool.Conflict, "the run exists already")
	}
	return runOf(db.Run(row))
}

// BeginRun implements [agent.Runs]. A pending run under run.ID is started, and one that
// started without a plan gets its plan; it fails with tool.NotFound for an agent run
// that was not recorded.
func (s *Store) BeginRun(ctx context.Context, run agent.Run) (agent.Run, error) {
	const op = "store.BeginRun"
	params, err := runParams(run)
	if err != nil {
		return agent.Run{}, err
	}
	if err := checkIDs(op, params.ID, run.AgentID); err != nil {
		return agent.Run{}, err
	}
	var row db.Run
	err = s.do(ctx, op, run.Tenant, func(q *db.Queries) (err error) {
		if row, err = beginRun(ctx, q, params); err == nil && staleRun(row, params) {
			return errRaced
		}
		return err
	})
	if err != nil {
		return agent.Run{}, explain(err, tool.NotFound, "run not found")
	}
	if row.LastSeq > 0 {
		s.wake(run.Tenant, row.ID)
	}
	return runOf(row)
}

func beginRun(ctx context.Context, q *db.Queries, params db.BeginHostRunParams) (db.Run, error) {
	if params.Kind == string(agent.RunKindAgent) {
		begun, err := q.BeginRun(ctx, db.BeginRunParams{
			TenantID: params.TenantID, ID: params.ID, Plan: params.Plan, AgentVersion: params.AgentVersion,
			FirstRunID: params.FirstRunID,
		})
		return db.Run(begun), err
	}
	begun, err := q.BeginHostRun(ctx, params)
	if errors.Is(err, pgx.ErrNoRows) {
		err = errRaced
	}
	return db.Run(begun), err
}

// staleRun reports whether a row is from before a concurrent call started the run, or
// set its plan.
func staleRun(row db.Run, params db.BeginHostRunParams) bool {
	switch agent.RunStatus(row.Status) {
	case agent.RunPending:
		return row.ID == params.ID
	case agent.RunRunning, agent.RunHosted:
		return row.Plan == nil && params.Plan != nil
	case agent.RunCompleted, agent.RunFailed, agent.RunCancelled:
		return false
	default:
		return false
	}
}

// FindRun implements [agent.Runs].
func (s *Store) FindRun(ctx context.Context, tenant tool.TenantID, id string) (agent.Run, error) {
	const op = "store.FindRun"
	if id == "" || !tool.ValidID(id) {
		return agent.Run{}, notFound(op, "run not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindRun, db.FindRunParams{TenantID: string(tenant), ID: id})
	if err != nil {
		return agent.Run{}, explain(err, tool.NotFound, "run not found")
	}
	return runOf(row)
}

// Ancestors implements [agent.Runs].
func (s *Store) Ancestors(ctx context.Context, tenant tool.TenantID, runID string) ([]agent.Ancestor, error) {
	const op = "store.Ancestors"
	if !tool.ValidID(runID) {
		return nil, notFound(op, "run not found")
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListAncestors, db.ListAncestorsParams{
		TenantID: string(tenant), ID: runID, Most: agent.MaxDepth + 1,
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, notFound(op, "run not found")
	}
	line := make([]agent.Ancestor, len(rows))
	for i, row := range rows {
		line[i] = agent.Ancestor{RunID: row.ID, AgentID: value(row.AgentID), Agent: row.Agent, Detached: row.Detached}
	}
	return line, nil
}

// RunQuery filters and pages runs. Zero fields do not filter.
type RunQuery struct {
	Status  agent.RunStatus
	Kind    agent.RunKind
	AgentID string
	Subject string // Who started it.
	Mode    tool.Mode
	Parent  string    // Parent run.
	Top     bool      // Without a parent run.
	Paused  bool      // Those that are paused.
	Since   time.Time // Created at or after.
	Until   time.Time // Created before.
	Before  string    // Cursor: the last id of the previous page.
	Limit   int       // Default 100, at most 1000.
}

// ListRuns returns a page of runs, newest first.
func (s *Store) ListRuns(ctx context.Context, tenant tool.TenantID, q RunQuery) ([]agent.Run, error) {
	const op = "store.ListRuns"
	if err := checkIDs(op, q.AgentID, q.Parent, q.Before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.doFiltered, op, tenant, (*db.Queries).ListRuns, db.ListRunsParams{
		TenantID: string(tenant), Before: optional(q.Before), Status: string(q.Status), Kind: string(q.Kind),
		AgentID: optional(q.AgentID), Subject: q.Subject, Mode: string(q.Mode),
		ParentRunID: optional(q.Parent), Top: q.Top, Paused: q.Paused,
		Since: idTime(q.Since), Until: idTime(q.Until), Limit: pageSize(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, runOf)
}

// FinishRun implements [agent.Runs].
func (s *Store) FinishRun(ctx context.Context, end agent.RunEnd) error {
	const op = "store.FinishRun"
	if !end.Status.Final() {
		return &tool.Error{Kind: tool.Invalid, Op: op, Msg: "a run cannot end as " + string(end.Status)}
	}
	if !tool.ValidID(end.RunID) {
		return notFound(op, "run not found")
	}
	if err := checkIDs(op, end.HeadMessageID); err != nil {
		return err
	}
	event, err := encode(agent.RunEnded{Status: end.Status, Kind: end.Kind, Turns: end.Turns})
	if err != nil {
		return err
	}
	row, err := ask(ctx, s.do, op, end.Tenant, (*db.Queries).FinishRun, db.FinishRunParams{
		TenantID: string(end.Tenant), ID: end.RunID, Status: string(end.Status), Output: text(end.Output),
		ErrorKind: string(end.Kind), Error: text(end.Msg), HeadMessageID: optional(end.HeadMessageID),
		Turns: number(end.Turns), Calls: number(end.Calls), EventType: string(runEndEvent(end.Status)), EventData: event,
		Execution: text(end.Execution), UnlessInbox: end.UnlessInbox,
	})
	switch {
	case err != nil:
		return err
	case row.HasInbox && !row.Ended:
		return agent.ErrInbox
	case !row.Known:
		return notFound(op, "run not found")
	case row.Ended:
		s.wakeEnd(end.Tenant, end.RunID)
	}
	return nil
}

func runEndEvent(status agent.RunStatus) tool.EventType {
	switch status {
	case agent.RunCompleted:
		return agent.EventRunCompleted
	case agent.RunCancelled:
		return agent.EventRunCancelled
	case agent.RunFailed, agent.RunPending, agent.RunRunning, agent.RunHosted:
		return agent.EventRunFailed
	default:
		return agent.EventRunFailed
	}
}

func runParams(run agent.Run) (db.BeginHostRunParams, error) {
	var none db.BeginHostRunParams
	id, err := idOrNew(run.ID)
	if err != nil {
		return none, err
	}
	input, err := payload(run.Input)
	if err != nil {
		return none, err
	}
	var plan []byte
	if run.Plan != nil {
		if plan, err = encodePayload(run.Plan); err != nil {
			return none, err
		}
	}
	mode := run.Mode
	if mode == "" {
		mode = tool.Production
	}
	status := agent.RunRunning
	if run.Kind == agent.RunKindHost {
		status = agent.RunHosted
	}
	return db.BeginHostRunParams{
		TenantID: string(run.Tenant), WorkflowID: text(run.WorkflowID), FirstRunID: text(run.FirstRunID), ID: id,
		Kind:    string(run.Kind),
		AgentID: optional(run.AgentID), Agent: text(run.Agent), AgentVersion: text(run.AgentVersion), Mode: string(mode),
		Subject: text(run.Principal.Subject), Permissions: list(run.Principal.Permissions),
		Scopes: list(run.Principal.Scopes),
		Status: string(status), Input: input, Plan: plan,
	}, nil
}

func runOf(row db.Run) (agent.Run, error) {
	run := agent.Run{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Kind: agent.RunKind(row.Kind), AgentID: value(row.AgentID),
		Agent:        row.Agent,
		AgentVersion: row.AgentVersion, Tool: row.Tool, Mode: tool.Mode(row.Mode),
		Principal: tool.Principal{
			Tenant: tool.TenantID(row.TenantID), Subject: row.Subject, Permissions: row.Permissions, Scopes: row.Scopes,
		},
		Status: agent.RunStatus(row.Status), Input: row.Input, Output: row.Output, ErrorKind: tool.Kind(row.ErrorKind),
		Error:      row.Error,
		WorkflowID: row.WorkflowID, FirstRunID: row.FirstRunID, EndedBy: row.EndedBy, HeadMessageID: value(row.HeadMessageID),
		Turns:   int(row.Turns),
		LastSeq: row.LastSeq, CreatedAt: row.CreatedAt, StartedAt: row.StartedAt, CompletedAt: row.CompletedAt,
		Depth: int(row.Depth), Calls: int(row.Calls), CancelExecution: row.CancelExecution,
		ByLink: row.ByLink,
	}
	if run.PauseRound = agent.PauseRound(row.PauseRound); row.PausedAt != nil {
		run.Paused = &agent.Pause{At: *row.PausedAt, By: row.PausedBy, Reason: row.PauseReason}
	}
	if row.ContinuesRunID != nil {
		run.Continues = &agent.Continued{RunID: *row.ContinuesRunID}
		if row.ContinuesTurn != nil {
			run.Continues.Turn = int(*row.ContinuesTurn)
		}
	}
	if row.ParentRunID != nil {
		run.Parent = &agent.Parent{
			RunID: *row.ParentRunID, InvocationID: value(row.ParentInvocationID), Detached: row.Detached,
		}
	}
	var err error
	if run.Taint, err = taintOf(row.Taint); err != nil {
		return run, err
	}
	if row.Plan != nil {
		run.Plan = &agent.Plan{}
	}
	return run, decode(row.Plan, run.Plan)
}

// taintOf converts the taint of a run; nil for none.
func taintOf(raw []byte) (*tool.Taint, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	t := &tool.Taint{}
	return t, decode(raw, t)
}

// ruled returns a taint with the tenant's rule; nil for none, and where the rule is off.
func ruled(t *tool.Taint, rule string) *tool.Taint {
	if t == nil || tool.TaintRule(rule) == tool.TaintOff {
		return nil
	}
	of := *t
	of.Rule = tool.TaintRule(rule)
	return &of
}

func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// list returns an empty list rather than nil, for a column that is not null.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// InvocationQuery filters and pages invocations. Zero fields do not filter.
type InvocationQuery struct {
	Status  tool.InvocationStatus
	Tool    string    // Slug.
	Kind    tool.Kind // Kind of failure.
	RunID   string
	AgentID string
	Parent  string    // Parent invocation.
	Since   time.Time // Created at or after, by the time in the id.
	Until   time.Time // Created before.
	Before  string    // Cursor: the last id of the previous page.
	Limit   int       // Default 100, at most 1000.
	Brief   bool      // Without arguments, receipts and answers: they may be large, and are not read.
}

// FindInvocation returns the record of a call. It fails with tool.NotFound.
func (s *Store) FindInvocation(ctx context.Context, tenant tool.TenantID, id string) (tool.Invocation, error) {
	const op = "store.FindInvocation"
	if !tool.ValidID(id) {
		return tool.Invocation{}, notFound(op, "invocation not found")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindInvocation, db.FindInvocationParams{
		TenantID: string(tenant), ID: id,
	})
	if err != nil {
		return tool.Invocation{}, explain(err, tool.NotFound, "invocation not found")
	}
	return invocationOf(row)
}

// FindBriefInvocation is [Store.FindInvocation] without an answer of more than so many bytes, which is not read: its
// size is returned, unless most is zero.
func (s *Store) FindBriefInvocation(
	ctx context.Context, tenant tool.TenantID, id string, most int,
) (i tool.Invocation, left int64, err error) {
	const op = "store.FindBriefInvocation"
	if !tool.ValidID(id) {
		return tool.Invocation{}, 0, notFound(op, "invocation not found")
	}
	if most > 0 {
		left, err = ask(ctx, s.do, op, tenant, (*db.Queries).OutputBytes, db.OutputBytesParams{
			TenantID: string(tenant), ID: id,
		})
		if err != nil {
			return tool.Invocation{}, 0, explain(err, tool.NotFound, "invocation not found")
		}
		if left <= int64(most) {
			i, err = s.FindInvocation(ctx, tenant, id)
			return i, 0, err
		}
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindBriefInvocation, db.FindBriefInvocationParams{
		TenantID: string(tenant), ID: id,
	})
	if err != nil {
		return tool.Invocation{}, 0, explain(err, tool.NotFound, "invocation not found")
	}
	i, err = invocationOf(db.ToolInvocation(row))
	return i, left, err
}

// ListInvocations returns a page of invocations, newest first.
func (s *Store) ListInvocations(
	ctx context.Context, tenant tool.TenantID, q InvocationQuery,
) ([]tool.Invocation, error) {
	const op = "store.ListInvocations"
	if err := checkIDs(op, q.RunID, q.AgentID, q.Parent, q.Before); err != nil {
		return nil, err
	}
	params := db.ListInvocationsParams{
		TenantID: string(tenant), Before: optional(q.Before), Tool: text(q.Tool), Kind: string(q.Kind),
		RunID: optional(q.RunID), AgentID: optional(q.AgentID), ParentID: optional(q.Parent), Since: idTime(q.Since),
		Until: idTime(q.Until), Limit: pageSize(q.Limit),
	}
	var rows []db.ToolInvocation
	var err error
	switch {
	case q.Status == "" || q.Status == tool.StatusCompleted:
		params.Status = string(q.Status)
		rows, err = s.listInvocations(ctx, tenant, params, q.Brief)
	case q.Status.Final():
		params.FailedStatus = string(q.Status)
		rows, err = s.listInvocations(ctx, tenant, params, q.Brief)
	default:
		rows, err = ask(ctx, s.doFiltered, op, tenant, (*db.Queries).ListOpenInvocations, db.ListOpenInvocationsParams{
			TenantID: params.TenantID, Status: string(q.Status), Before: params.Before, Tool: params.Tool, Kind: params.Kind,
			RunID: params.RunID, AgentID: params.AgentID, ParentID: params.ParentID, Since: params.Since, Until: params.Until,
			Limit: params.Limit,
		})
	}
	if err != nil {
		return nil, err
	}
	return collect(rows, invocationOf)
}

func (s *Store) listInvocations(
	ctx context.Context, tenant tool.TenantID, params db.ListInvocationsParams, brief bool,
) ([]db.ToolInvocation, error) {
	const op = "store.ListInvocations"
	if !brief {
		return ask(ctx, s.doFiltered, op, tenant, (*db.Queries).ListInvocations, params)
	}
	rows, err := ask(ctx, s.doFiltered, op, tenant, (*db.Queries).ListBriefInvocations,
		db.ListBriefInvocationsParams(params))
	return convert(rows, func(r db.ListBriefInvocationsRow) db.ToolInvocation { return db.ToolInvocation(r) }), err
}

func invocationOf(row db.ToolInvocation) (tool.Invocation, error) {
	i := tool.Invocation{
		CallIdentity: tool.CallIdentity{
			Principal: tool.Principal{Tenant: tool.TenantID(row.TenantID), Subject: row.Subject}, Mode: tool.Mode(row.Mode),
			RunID: value(row.RunID), AgentID: value(row.AgentID),
			Turn: int(row.Turn), Position: int(row.Position), ParentID: value(row.ParentID),
			CallID: row.CallID, InvocationID: row.ID, EffectID: value(row.EffectID),
		},
		VersionIdentity: tool.VersionIdentity{
			ToolID: value(row.ToolID), Slug: row.Tool, Version: row.Version, Digest: row.Digest,
			Implementation: tool.Implementation(row.ImplementationType),
		},
		Status: tool.InvocationStatus(row.Status), ApprovalStatus: tool.ApprovalStatus(row.ApprovalStatus),
		EgressClass: tool.Egress(row.EgressClass), Attempt: int(row.Attempt), Input: row.Input, Receipt: row.Receipt,
		IsError: row.IsError, ErrorKind: tool.Kind(row.ErrorKind), Error: row.Error, CreatedAt: row.CreatedAt,
		StartedAt: row.StartedAt, CompletedAt: row.CompletedAt, CostMicros: row.CostMicros,
	}
	if len(row.Output) == 0 {
		return i, nil
	}
	i.Output = &tool.Result{}
	stored := storedResult{Result: i.Output}
	err := decode(row.Output, &stored)
	i.InlineBytes = stored.InlineBytes
	return i, err
}

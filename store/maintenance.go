package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// nilID sorts before every other id.
const nilID = globalScope

// Maintenance acts as [MaintenanceRole]: it sees across tenants which runs, calls,
// documents and pipelines are open, but not their contents. It writes leases only.
// It is safe for concurrent use.
type Maintenance struct {
	store *Store
}

// OpenMaintenance connects to a migrated database with a login that is a member
// of [MaintenanceRole].
//
// It fails with tool.Unavailable where the database does not answer, with a
// [*SchemaError] where its schema is older than this binary's, and with
// tool.Denied where the login is not a member, or is a superuser or may bypass
// row level security without [Options.SetRole].
func OpenMaintenance(ctx context.Context, url string, opts Options) (*Maintenance, error) {
	s, err := connect(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	if err := s.checkMaintenance(ctx); err != nil {
		s.pool.Close()
		return nil, reached(err)
	}
	return &Maintenance{store: s}, nil
}

func (s *Store) checkMaintenance(ctx context.Context) error {
	const op = "store.OpenMaintenance"
	var role string
	var privileged, member bool
	err := s.pool.QueryRow(ctx, `
		select r.rolname, r.rolsuper or r.rolbypassrls,
			to_regrole($1) is not null and pg_has_role(current_user, to_regrole($1), 'usage')
		from pg_roles r where r.rolname = current_user`, MaintenanceRole).Scan(&role, &privileged, &member)
	if err != nil {
		return failure(op, err)
	}
	hint := "connect as a login role that is granted " + MaintenanceRole + " and nothing more"
	switch {
	case privileged:
		return &tool.Error{
			Kind: tool.Denied, Op: op,
			Msg: fmt.Sprintf("the database role %s has more rights than maintenance needs; %s", role, hint),
		}
	case !member:
		return &tool.Error{
			Kind: tool.Denied, Op: op,
			Msg: fmt.Sprintf("the database role %s is not granted %s; %s", role, MaintenanceRole, hint),
		}
	}
	return s.checkSchema(ctx)
}

// Close waits for running queries and closes the pool. A second call does
// nothing.
func (m *Maintenance) Close() { m.store.Close() }

// OpenRun is a run that has not ended.
type OpenRun struct {
	Tenant     tool.TenantID
	ID         string
	Kind       agent.RunKind
	Status     agent.RunStatus
	WorkflowID string
	FirstRunID string // Temporal's; empty before the run has started.
	CreatedAt  time.Time
}

// OpenRuns returns a page of the runs of all tenants that have not ended and are older
// than grace, in the order of tenants and ids. After is the last run of the previous
// page; zero for the first page.
func (m *Maintenance) OpenRuns(ctx context.Context, after OpenRun, grace time.Duration, limit int) ([]OpenRun, error) {
	var rows []db.ListOpenRunsRow
	err := m.store.doGlobal(ctx, "store.OpenRuns", func(q *db.Queries) (err error) {
		rows, err = q.ListOpenRuns(ctx, db.ListOpenRunsParams{
			AfterTenant: orNil(string(after.Tenant)), AfterID: orNil(after.ID), Grace: grace.Seconds(), Limit: pageSize(limit),
		})
		return err
	})
	return convert(rows, func(r db.ListOpenRunsRow) OpenRun {
		return OpenRun{
			Tenant: tool.TenantID(r.TenantID), ID: r.ID, Kind: agent.RunKind(r.Kind), Status: agent.RunStatus(r.Status),
			WorkflowID: r.WorkflowID, FirstRunID: r.FirstRunID, CreatedAt: r.CreatedAt,
		}
	}), err
}

// RunRef names a run of a tenant.
type RunRef struct {
	Tenant tool.TenantID
	ID     string
}

// StrandedRuns returns runs that ended longer than grace ago and have calls, started
// since a time, that have not ended.
func (m *Maintenance) StrandedRuns(
	ctx context.Context, since time.Time, grace time.Duration, limit int,
) ([]RunRef, error) {
	var rows []db.ListStrandedRunsRow
	err := m.store.doGlobal(ctx, "store.StrandedRuns", func(q *db.Queries) (err error) {
		rows, err = q.ListStrandedRuns(ctx, db.ListStrandedRunsParams{
			Grace: grace.Seconds(), Since: since, Limit: pageSize(limit),
		})
		return err
	})
	return convert(rows, func(r db.ListStrandedRunsRow) RunRef { return RunRef{tool.TenantID(r.TenantID), r.ID} }), err
}

// OpenDocument is a version of a document whose ingestion has not ended.
type OpenDocument struct {
	retrieval.DocumentRef
	Pipeline string
}

// OpenDocuments returns a page of the documents that are being ingested and
// have not changed for grace, as [Maintenance.OpenRuns] does.
func (m *Maintenance) OpenDocuments(
	ctx context.Context, after retrieval.DocumentRef, grace time.Duration, limit int,
) ([]OpenDocument, error) {
	var rows []db.ListOpenDocumentsRow
	err := m.store.doGlobal(ctx, "store.OpenDocuments", func(q *db.Queries) (err error) {
		rows, err = q.ListOpenDocuments(ctx, db.ListOpenDocumentsParams{
			AfterTenant: orNil(string(after.Tenant)), AfterID: orNil(after.Document), Grace: grace.Seconds(),
			Limit: pageSize(limit),
		})
		return err
	})
	return convert(rows, func(r db.ListOpenDocumentsRow) OpenDocument {
		return OpenDocument{
			DocumentRef: retrieval.DocumentRef{Tenant: tool.TenantID(r.TenantID), Document: r.ID, Version: r.Version},
			Pipeline:    r.PipelineID,
		}
	}), err
}

// OpenGenerations returns a page of the generations of embeddings that are being
// built in pipelines that have not changed for grace, as
// [Maintenance.OpenRuns] does.
func (m *Maintenance) OpenGenerations(
	ctx context.Context, after retrieval.GenerationRef, grace time.Duration, limit int,
) ([]retrieval.GenerationRef, error) {
	var rows []db.ListOpenGenerationsRow
	err := m.store.doGlobal(ctx, "store.OpenGenerations", func(q *db.Queries) (err error) {
		rows, err = q.ListOpenGenerations(ctx, db.ListOpenGenerationsParams{
			AfterTenant: orNil(string(after.Tenant)), AfterID: orNil(after.Pipeline), Grace: grace.Seconds(),
			Limit: pageSize(limit),
		})
		return err
	})
	return convert(rows, func(r db.ListOpenGenerationsRow) retrieval.GenerationRef {
		return retrieval.GenerationRef{Tenant: tool.TenantID(r.TenantID), Pipeline: r.ID, Generation: int(r.NextGeneration)}
	}), err
}

// CallRef names an invocation of a tenant.
type CallRef struct {
	Tenant       tool.TenantID
	InvocationID string
}

// UnknownCalls returns the calls whose outcome is unknown and that were admitted
// since a time, newest first.
func (m *Maintenance) UnknownCalls(ctx context.Context, since time.Time, limit int) ([]CallRef, error) {
	var rows []db.ListUnknownCallsRow
	err := m.store.doGlobal(ctx, "store.UnknownCalls", func(q *db.Queries) (err error) {
		rows, err = q.ListUnknownCalls(ctx, db.ListUnknownCallsParams{Since: since, Limit: pageSize(limit)})
		return err
	})
	return convert(rows, func(r db.ListUnknownCallsRow) CallRef {
		return CallRef{tool.TenantID(r.TenantID), r.InvocationID}
	}), err
}

func orNil(id string) string {
	if id == "" {
		return nilID
	}
	return id
}

// noLease reports whether no row came back for a lease.
func noLease(err error) bool {
	return errors.Is(err, pgx.ErrNoRows) || tool.KindOf(err) == tool.NotFound
}

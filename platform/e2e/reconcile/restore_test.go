package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// A database is restored to a state before some runs: their workflows are
// terminated, and nothing else in the namespace is.
func TestRestoredDatabase(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	kept, _ := s.started()
	lost, _ := s.started()
	queued := wire.RunWorkflowID(s.Tenant, storetest.NewID(t))
	s.start(queued, wire.ToolCallWorkflow) // A call is recorded by its first step, which no worker has taken.
	stranger := wire.RunWorkflowID(tool.TenantID(storetest.NewID(t)), storetest.NewID(t))
	s.start(stranger, wire.AgentRunWorkflow)
	hosts := "t-shirts/" + storetest.NewID(t)
	s.start(hosts, wire.AgentRunWorkflow)
	_, err := s.Conn(t).Exec(t.Context(), "delete from runs where id = $1", lost.ID)
	require.NoError(t, err)

	require.Empty(t, s.passWith(func(c *reconcile.Config) { c.Grace = time.Hour }))
	require.False(t, s.found(1, dry)[0].Closed)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.status(lost.WorkflowID))

	found := s.found(1)
	require.Equal(t, reconcile.WorkflowSubject, found[0].Subject)
	require.Equal(t, reconcile.RunMissing, found[0].Reason)
	require.True(t, found[0].Closed)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, s.status(lost.WorkflowID))
	for _, id := range []string{kept.WorkflowID, queued, stranger, hosts} {
		require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.status(id), id)
	}
	s.quiet()
	for _, id := range []string{kept.WorkflowID, queued, stranger, hosts} {
		s.terminate(id, "the test is over")
	}
}

// A call by itself that has begun, and whose run a restored database has lost,
// is terminated.
func TestRestoredDatabaseWithoutACall(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.worker(wire.ToolCallWorkflow, func(ctx workflow.Context, _ map[string]string) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Minute})
		if err := workflow.ExecuteLocalActivity(ctx, func() error { return nil }).Get(ctx, nil); err != nil {
			return err
		}
		return workflow.Await(ctx, func() bool { return false })
	})
	id := wire.RunWorkflowID(s.Tenant, storetest.NewID(t))
	s.start(id, wire.ToolCallWorkflow)
	require.Eventually(t, func() bool { return len(s.pass()) == 1 }, 30*time.Second, 50*time.Millisecond)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, s.status(id))
}

// A database is restored to a state in which a run had not ended yet.
func TestRestoredDatabaseBeforeAnEnd(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.worker(wire.AgentRunWorkflow, func(workflow.Context, map[string]string) (wire.AgentRunOutput, error) {
		return wire.AgentRunOutput{Answer: "Done."}, nil
	})
	run, w := s.started()
	require.NoError(t, w.Get(t.Context(), nil))
	s.close(run, agent.RunCompleted)
	require.Empty(t, s.pass())
	_, err := s.Conn(t).Exec(
		t.Context(), "update runs set status = 'running', completed_at = null, ended_by = '' where id = $1", run.ID,
	)
	require.NoError(t, err)
	s.found(1)
	require.Equal(t, agent.RunCompleted, s.find(run.ID).Status)
	require.Equal(t, "Done.", s.find(run.ID).Output)
}

// Documents whose ingestion was terminated, or never started, fail, and a
// generation of embeddings that nothing builds any more is dropped.
func TestDocuments(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	shelf := storetest.NewShelf(t, s.Store, retrieval.Pipeline{Tenant: s.Tenant, Embedding: &storetest.Model})
	alive, terminated, never := shelf.Put(
		t, "alive", "words",
	), shelf.Put(t, "terminated", "words"), shelf.Put(t, "never", "words")
	ids := map[string]string{}
	for _, d := range []retrieval.Document{alive, terminated} {
		id, _ := wire.NewIngest(d.Tenant, d.ID, d.Version)
		s.start(id, wire.IngestWorkflow)
		ids[d.ID] = id
	}
	s.terminate(ids[terminated.ID], "by hand")

	require.Eventually(t, func() bool { return len(s.pass(dry)) == 2 }, time.Minute, 20*time.Millisecond)
	s.found(2)
	for id, want := range map[string]retrieval.DocumentStatus{
		alive.ID: retrieval.Pending, terminated.ID: retrieval.Failed, never.ID: retrieval.Failed,
	} {
		d, err := s.Store.FindDocument(t.Context(), s.Tenant, alive.PipelineID, id)
		require.NoError(t, err)
		require.Equal(t, want, d.Status)
		if want == retrieval.Failed {
			require.Contains(t, d.Error, "put the document again")
		}
	}
	require.Empty(t, s.pass())

	other := storetest.Model
	other.Model = "another"
	found, err := s.Store.FindPipeline(t.Context(), s.Tenant, alive.PipelineID)
	require.NoError(t, err)
	found, err = s.Store.BeginGeneration(t.Context(), found, other)
	require.NoError(t, err)
	id, _ := wire.NewReembed(s.Tenant, found.ID, found.NextGeneration)
	s.start(id, wire.ReembedWorkflow)
	require.Empty(t, s.pass())
	s.terminate(id, "by hand")
	dropped := s.found(1)
	require.Equal(t, reconcile.GenerationSubject, dropped[0].Subject)
	found, err = s.Store.FindPipeline(t.Context(), s.Tenant, found.ID)
	require.NoError(t, err)
	require.Zero(t, found.NextGeneration)
	s.terminate(ids[alive.ID], "the test is over")
}

// A read of a document, or of a pipeline that is being embedded, whose workflow
// was terminated returns it as ended, with the reason, without a pass of the
// reconciler.
func TestLooksAtDocuments(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	shelf := storetest.NewShelf(t, s.Store, retrieval.Pipeline{Tenant: s.Tenant})
	alive, terminated, waiting := shelf.Put(t, "alive",
		"words"), shelf.Put(t, "terminated", "words"), shelf.Put(t, "waiting", "words")
	for _, d := range []retrieval.Document{alive, terminated} {
		id, _ := wire.NewIngest(d.Tenant, d.ID, d.Version)
		s.start(id, wire.IngestWorkflow)
		t.Cleanup(func() { _ = s.temporal.TerminateWorkflow(context.Background(), id, "", "the test is over") })
	}
	id, _ := wire.NewIngest(terminated.Tenant, terminated.ID, terminated.Version)
	s.terminate(id, "by hand")
	r, err := reconcile.New(reconcile.Config{Store: s.Store, Temporal: s.temporal})
	require.NoError(t, err)
	for _, d := range []retrieval.Document{alive, waiting} {
		looked, err := r.Document(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, d, looked)
	}
	ended, err := r.Document(t.Context(), terminated)
	require.NoError(t, err)
	require.Equal(t, retrieval.Failed, ended.Status)
	require.Equal(t, "its workflow was terminated: by hand: put the document again", ended.Error)

	p, err := s.Store.BeginGeneration(t.Context(), shelf.Pipeline, storetest.Model)
	require.NoError(t, err)
	id, _ = wire.NewReembed(s.Tenant, p.ID, p.NextGeneration)
	s.start(id, wire.ReembedWorkflow)
	looked, err := r.Pipeline(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, p, looked)
	s.terminate(id, "by hand")
	looked, err = r.Pipeline(t.Context(), p)
	require.NoError(t, err)
	require.Zero(t, looked.NextGeneration)
	require.Equal(t, "its workflow was terminated: by hand: ask for it again", looked.EmbeddingError)
}

// quiet requires that nothing is left to be found.
func (s *site) quiet() {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return len(s.pass()) == 0 }, time.Minute, 20*time.Millisecond)
}

package runs

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Store is the record of runs, their starts and the agents they run. Package
// store implements it.
type Store interface {
	wait.Approvals
	wait.Calls
	space.Wakes

	// FindInvocation finds a call. It fails with tool.NotFound.
	FindInvocation(ctx context.Context, tenant tool.TenantID, id string) (tool.Invocation, error)
	// ListPath is that of [graph.Records].
	ListPath(ctx context.Context, of graph.Run) ([]graph.Passed, error)

	// FindAgent finds an agent by slug or id. It fails with tool.NotFound.
	FindAgent(ctx context.Context, tenant tool.TenantID, slugOrID string) (agent.Agent, error)
	ListAgentVersions(ctx context.Context, tenant tool.TenantID, agentID string) ([]agent.Version, error)

	// TenantSlug returns the slug of a tenant, which never changes. It fails with tool.NotFound.
	TenantSlug(ctx context.Context, tenant tool.TenantID) (string, error)

	// AcceptRun records a pending run and its start in one transaction. It fails
	// with tool.Conflict when the run exists, and with tool.RateLimited when the
	// tenant has too many unfinished runs.
	AcceptRun(ctx context.Context, a agent.Acceptance) (agent.Run, error)
	// AcceptWokenRun is AcceptRun for the run that a wake begins, and ends the wake in the same
	// transaction. It fails with [space.ErrWakeOver], and with tool.Denied where the key that the wake
	// acts for was revoked or has expired.
	AcceptWokenRun(ctx context.Context, a agent.Acceptance, w space.Wake) (agent.Run, error)
	// FindRun fails with tool.NotFound.
	FindRun(ctx context.Context, tenant tool.TenantID, id string) (agent.Run, error)
	// Transcript returns a run's messages from the root to its head, each assistant message
	// followed by the answers to its calls. It fails with tool.NotFound.
	Transcript(ctx context.Context, tenant tool.TenantID, runID string) ([]agent.Message, error)
	// AddToInbox puts something into the inbox of a run, and reports whether it did: a
	// message is for a run that goes on. It fails with tool.NotFound.
	AddToInbox(ctx context.Context, item agent.InboxItem) (bool, error)
	// FindCallEnd reads how the run of a single call ended. It fails with
	// tool.NotFound.
	FindCallEnd(ctx context.Context, tenant tool.TenantID, runID string) (agent.CallEnd, error)
	// FindRunOfWorkflow finds the newest run of a workflow id. It fails with
	// tool.NotFound.
	FindRunOfWorkflow(ctx context.Context, tenant tool.TenantID, workflowID string) (agent.Run, error)
	// RequestCancel records that an execution of a run's workflow is to stop, tells the
	// processes that work for the run, and reports whether it did.
	RequestCancel(ctx context.Context, tenant tool.TenantID, runID, execution string) (bool, error)
	// Ancestors returns a run and its ancestors, the run first. It fails with tool.NotFound.
	Ancestors(ctx context.Context, tenant tool.TenantID, runID string) ([]agent.Ancestor, error)
	// ChangePause pauses or resumes a run and what is below it, tells the processes that work
	// for it, and returns its new round; zero where nothing changed. It fails with
	// tool.NotFound.
	ChangePause(ctx context.Context, c agent.PauseChange) (agent.PauseRound, error)
	// ClaimPauses claims runs of any tenant whose workflows do not have their rounds.
	ClaimPauses(ctx context.Context, limit int, lease time.Duration) ([]agent.UndeliveredPause, error)
	// PauseDelivered records that a workflow has the round.
	PauseDelivered(ctx context.Context, u agent.UndeliveredPause) error
	// EndPendingRun ends a run that has not begun, and reports whether it did.
	EndPendingRun(ctx context.Context, end agent.RunEnd) (bool, error)

	// AddStart records the start of a workflow without a run, and reports whether
	// there was none of its workflow id.
	AddStart(ctx context.Context, start agent.Start, lease time.Duration) (bool, error)
	// CountStarts counts the starts that wait, over all tenants.
	CountStarts(ctx context.Context) (agent.StartBacklog, error)
	// QueueDepths counts what waits and runs over all tenants, and names those with most.
	QueueDepths(ctx context.Context, most int) (agent.QueueDepths, error)
	// ClaimStarts claims starts that are due, of any tenant.
	ClaimStarts(ctx context.Context, limit int, lease time.Duration) ([]agent.StartKey, error)
	// FindStart fails with tool.NotFound when Temporal confirmed the start.
	FindStart(ctx context.Context, key agent.StartKey) (agent.Start, error)
	DeleteStart(ctx context.Context, start agent.Start) error
	PostponeStart(ctx context.Context, start agent.Start, delay time.Duration, reason string) error
	// EndStart ends the pending run of a start, for the attempt that holds it, and
	// reports whether it did.
	EndStart(ctx context.Context, start agent.Start, end agent.RunEnd) (bool, error)
}

// Resolver chooses the tool versions that calls and agents use. Package resolver
// implements it.
type Resolver interface {
	Resolve(ctx context.Context, req resolver.Request) (*resolver.Resolved, error)
	// Version returns a version by its digest, whatever its status is.
	Version(ctx context.Context, tenant tool.TenantID, toolID, digest string) (*tool.Version, error)
	// Adapted returns it as overrides of the given revisions adapt it.
	Adapted(
		ctx context.Context, tenant tool.TenantID, toolID, digest string, at tool.OverrideRevisions,
	) (*tool.Version, error)
	Bind(
		ctx context.Context, p tool.Principal, refs []tool.Ref, mode tool.Mode,
	) ([]*resolver.Resolved, []resolver.Unavailable, error)
}

// Reconciler closes runs whose workflow ended without recording the end. Package
// reconcile implements it.
type Reconciler interface {
	// Run returns a run, after closing it if its workflow is over. It fails with
	// tool.NotFound for a run that the tenant does not have, and with
	// tool.Unavailable while Temporal is away.
	Run(ctx context.Context, tenant tool.TenantID, runID string) (agent.Run, error)
}

// Wakes notifies of changes of runs. Notifications may be lost, or be about nothing.
type Wakes interface {
	// Subscribe returns news, whose channel is closed by the next change of the run,
	// and leave, which ends the subscription. Get the channel before reading: a change
	// in between then closes it.
	Subscribe(ctx context.Context, tenant tool.TenantID, runID string) (news func() <-chan struct{}, leave func())
}

// Files has the files that people send with their answers. [file.Service] implements it.
type Files interface {
	// OfCall returns the files that were sent to a request for input.
	OfCall(ctx context.Context, tenant tool.TenantID, callID string) ([]file.File, error)
	// Upload stores a file.
	Upload(ctx context.Context, u file.Upload, content []byte) (file.File, error)
}

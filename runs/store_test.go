package runs_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

var _ runs.Store = (*fakeStore)(nil)

// fakeStore keeps runs and starts in memory, beside the agents and tools of a
// registry's fake.
type fakeStore struct {
	made map[string]tool.Invocation // By id.
	*registrytest.Store

	mu     sync.Mutex
	runs   []agent.Run // In the order of their records.
	first  map[string]*agent.Message
	starts map[agent.StartKey]agent.Start
	reject error                    // If set, AcceptRun fails with it.
	ends   map[string]agent.CallEnd // Of calls, by run.
	// cancels are the runs and executions of recorded requests, which fail with broken.
	cancels []string
	broken  error
	reads   int // Of ends.
	depths  agent.QueueDepths
	// afterRead is called after the next read of an end.
	afterRead func()

	before      map[string][]agent.Message // That AcceptRun got, by run.
	transcripts map[string][]agent.Message // By run.

	inbox []agent.InboxItem

	wait.Approvals // Nil: methods that a test does not expect panic.
	wait.Calls     // As above.
	space.Wakes    // As above.
	approvals      map[string]wait.Approval
	verdicts       []wait.Verdict
	undelivered    []wait.Undelivered
	due            []agent.UndeliveredPause // That ClaimPauses returns once.
	delivered      []string                 // Ids and rounds.
}

// Ancestors follows the parents of runs.
func (s *fakeStore) Ancestors(ctx context.Context, tenant tool.TenantID, id string) ([]agent.Ancestor, error) {
	var line []agent.Ancestor
	for id != "" {
		run, err := s.FindRun(ctx, tenant, id)
		if err != nil {
			return nil, err
		}
		above := agent.Ancestor{RunID: run.ID}
		if id = ""; run.Parent != nil {
			id, above.Detached = run.Parent.RunID, run.Parent.Detached
		}
		line = append(line, above)
	}
	return line, nil
}

func (s *fakeStore) ChangePause(_ context.Context, c agent.PauseChange) (agent.PauseRound, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.runs {
		run := &s.runs[i]
		if run.ID != c.RunID || run.Tenant != c.Tenant {
			continue
		}
		if run.Status.Final() || (run.Paused != nil) == c.Pause {
			return 0, nil
		}
		run.PauseRound++
		if run.Paused = nil; c.Pause {
			run.Paused = &agent.Pause{By: c.By, Reason: c.Reason}
		}
		return run.PauseRound, nil
	}
	return 0, &tool.Error{Kind: tool.NotFound, Msg: "run not found"}
}

func (s *fakeStore) ClaimPauses(context.Context, int, time.Duration) ([]agent.UndeliveredPause, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.due
	s.due = nil
	return due, nil
}

func (s *fakeStore) PauseDelivered(_ context.Context, u agent.UndeliveredPause) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivered = append(s.delivered, fmt.Sprintf("%s/%d", u.RunID, u.Round))
	return nil
}

func (s *fakeStore) QueueDepths(context.Context, int) (agent.QueueDepths, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.depths, s.broken
}

func (s *fakeStore) TenantSlug(context.Context, tool.TenantID) (string, error) { return "acme", nil }

func (s *fakeStore) FindApproval(_ context.Context, tenant tool.TenantID, id string) (wait.Approval, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.approvals[id]; ok && a.Tenant == tenant {
		return a, nil
	}
	return wait.Approval{}, &tool.Error{Kind: tool.NotFound, Msg: "request not found"}
}

func (s *fakeStore) ListPath(context.Context, graph.Run) ([]graph.Passed, error) {
	panic("no test of this package continues a graph")
}

func (s *fakeStore) FindInvocation(ctx context.Context, tenant tool.TenantID, id string) (tool.Invocation, error) {
	if made, ok := s.made[id]; ok {
		return made, nil
	}
	a, err := s.FindApproval(ctx, tenant, id)
	return tool.Invocation{VersionIdentity: tool.VersionIdentity{ToolID: a.Tool, Digest: a.Content}}, err
}

// CheckDecision refuses who started the run, and who lacks the permission.
func (s *fakeStore) CheckDecision(ctx context.Context, v wait.Verdict) (wait.Approval, error) {
	a, err := s.FindApproval(ctx, v.Principal.Tenant, v.ID)
	switch {
	case err != nil:
		return a, err
	case a.Requester == v.Principal.Subject:
		return a, &tool.Error{Kind: tool.Denied, Msg: "who started the run does not decide"}
	case !a.Permits(v.Principal):
		return a, &tool.Error{Kind: tool.Denied, Msg: "missing permission"}
	default:
		return a, nil
	}
}

func (s *fakeStore) Decide(_ context.Context, v wait.Verdict) (wait.Approval, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.approvals[v.ID]
	if !ok {
		return a, &tool.Error{Kind: tool.NotFound, Msg: "request not found"}
	}
	s.verdicts = append(s.verdicts, v)
	if a.Status = wait.Rejected; v.Approve {
		a.Status = wait.Approved
	}
	a.Reason = v.Reason
	s.approvals[v.ID] = a
	return a, nil
}

func (s *fakeStore) EscalateDue(context.Context, int) (int, error) { return 0, nil }

func (s *fakeStore) ExpireOverdue(context.Context, int, time.Duration) (int, error) { return 0, nil }

// AddToInbox keeps items of runs that go on.
func (s *fakeStore) AddToInbox(_ context.Context, item agent.InboxItem) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, run := range s.runs {
		if run.ID == item.RunID && !run.Status.Final() {
			s.inbox = append(s.inbox, item)
			return true, nil
		}
	}
	return false, nil
}

// ClaimResolved claims nothing.
func (*fakeStore) ClaimResolved(context.Context, int, time.Duration) ([]wait.Undelivered, error) {
	return nil, nil
}

func (s *fakeStore) ClaimUndelivered(context.Context, int, time.Duration) ([]wait.Undelivered, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.undelivered
	s.undelivered = nil
	return out, nil
}

func (s *fakeStore) Delivered(_ context.Context, u wait.Undelivered) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivered = append(s.delivered, fmt.Sprintf("%s/%d", u.ID, u.Round))
	return nil
}

func (s *fakeStore) AcceptWokenRun(ctx context.Context, a agent.Acceptance, _ space.Wake) (agent.Run, error) {
	return s.AcceptRun(ctx, a)
}

func (s *fakeStore) AcceptRun(_ context.Context, a agent.Acceptance) (agent.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reject != nil {
		return agent.Run{}, s.reject
	}
	if s.index(a.Run.Tenant, a.Run.ID) >= 0 {
		return agent.Run{}, &tool.Error{Kind: tool.Conflict, Msg: "the run exists"}
	}
	a.Run.CreatedAt = time.Now()
	s.runs, s.first[a.Run.ID] = append(s.runs, a.Run), a.First
	if s.before == nil {
		s.before = map[string][]agent.Message{}
	}
	s.before[a.Run.ID] = a.Before
	s.starts[agent.StartKey{Tenant: a.Run.Tenant, WorkflowID: a.Run.WorkflowID}] = a.Start
	return a.Run, nil
}

func (s *fakeStore) Transcript(_ context.Context, _ tool.TenantID, runID string) ([]agent.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.transcripts[runID], nil
}

func (s *fakeStore) FindRun(_ context.Context, tenant tool.TenantID, id string) (agent.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(tenant, id); i >= 0 {
		return s.runs[i], nil
	}
	return agent.Run{}, &tool.Error{Kind: tool.NotFound, Msg: "run not found"}
}

func (s *fakeStore) FindCallEnd(ctx context.Context, tenant tool.TenantID, id string) (agent.CallEnd, error) {
	run, err := s.FindRun(ctx, tenant, id)
	s.mu.Lock()
	end, after := s.ends[id], s.afterRead
	s.reads++
	s.afterRead = nil
	s.mu.Unlock()
	if after != nil {
		after()
	}
	end.Status, end.EndedBy, end.Kind, end.Msg = run.Status, run.EndedBy, run.ErrorKind, run.Error
	return end, err
}

func (s *fakeStore) FindRunOfWorkflow(_ context.Context, tenant tool.TenantID, workflowID string) (agent.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, run := range slices.Backward(s.runs) {
		if run.Tenant == tenant && run.WorkflowID == workflowID {
			return run, nil
		}
	}
	return agent.Run{}, &tool.Error{Kind: tool.NotFound, Msg: "run not found"}
}

func (s *fakeStore) EndPendingRun(_ context.Context, end agent.RunEnd) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(end.Tenant, end.RunID)
	if i < 0 || s.runs[i].Status != agent.RunPending {
		return false, nil
	}
	s.runs[i].Status, s.runs[i].ErrorKind, s.runs[i].Error = end.Status, end.Kind, end.Msg
	return true, nil
}

func (s *fakeStore) RequestCancel(_ context.Context, tenant tool.TenantID, id, execution string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels = append(s.cancels, id+" "+execution)
	return s.index(tenant, id) >= 0, s.broken
}

func (s *fakeStore) EndStart(ctx context.Context, start agent.Start, end agent.RunEnd) (bool, error) {
	end.Tenant, end.RunID = start.Tenant, start.RunID
	_ = s.DeleteStart(ctx, start)
	return s.EndPendingRun(ctx, end)
}

func (s *fakeStore) FindStart(_ context.Context, key agent.StartKey) (agent.Start, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start, ok := s.starts[key]
	if !ok {
		return agent.Start{}, &tool.Error{Kind: tool.NotFound, Msg: "start not found"}
	}
	return start, nil
}

func (s *fakeStore) DeleteStart(_ context.Context, start agent.Start) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.starts, agent.StartKey{Tenant: start.Tenant, WorkflowID: start.WorkflowID})
	return nil
}

func (s *fakeStore) PostponeStart(context.Context, agent.Start, time.Duration, string) error {
	return nil
}

func (s *fakeStore) AddStart(_ context.Context, start agent.Start, _ time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := agent.StartKey{Tenant: start.Tenant, WorkflowID: start.WorkflowID}
	if _, ok := s.starts[key]; ok {
		return false, nil
	}
	s.starts[key] = start
	return true, nil
}

func (s *fakeStore) CountStarts(context.Context) (agent.StartBacklog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return agent.StartBacklog{Count: len(s.starts)}, nil
}

func (s *fakeStore) ClaimStarts(context.Context, int, time.Duration) ([]agent.StartKey, error) {
	return nil, nil
}

// change edits a recorded run.
func (s *fakeStore) change(id string, edit func(*agent.Run)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.runs {
		if s.runs[i].ID == id {
			edit(&s.runs[i])
		}
	}
}

// recorded returns the ids of all runs.
func (s *fakeStore) recorded() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, len(s.runs))
	for i, run := range s.runs {
		ids[i] = run.ID
	}
	return ids
}

// index returns the place of a run. The caller holds mu.
func (s *fakeStore) index(tenant tool.TenantID, id string) int {
	return slices.IndexFunc(s.runs, func(r agent.Run) bool { return r.Tenant == tenant && r.ID == id })
}

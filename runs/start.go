package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// NewRun asks for a run of an agent.
type NewRun struct {
	Request   Request
	Principal tool.Principal // Its Tenant is the tenant of the run. Required.
	Agent     string         // Slug or id. Required.
	// Constraint selects the agent's version, such as "^1.2". Empty for the
	// highest published version; in debug mode for the draft.
	Constraint string
	Mode       tool.Mode       // Production when empty.
	Input      json.RawMessage // Required: a string, or any other JSON value.
	// FollowFor is how long the run's output is expected to be followed from its
	// start on. Zero if it is not.
	FollowFor time.Duration
}

// Start records a run of an agent and starts its workflow. The run is pending.
// A request that is served again gets the run that it started before, unless
// that run ended before its workflow began: then a new run is started.
//
// It fails with tool.NotFound, tool.Conflict or tool.Invalid when the agent has
// no version to run, or the input is empty, and with the reasons of the resolver
// when the agent requires tools that are unavailable. It fails with
// tool.Unavailable while Temporal is away, and with tool.RateLimited when the
// tenant has too many unfinished runs. Nothing is recorded then. It fails with
// Temporal's reason when Temporal refuses the workflow for good; then the run is
// recorded as failed.
func (s *Service) Start(ctx context.Context, n NewRun) (agent.Run, error) {
	n.Mode = cmp.Or(n.Mode, tool.Production)
	run, err := s.newRun(ctx, n)
	if err != nil {
		return agent.Run{}, err
	}
	return s.begin(ctx, n, run, takenOver{})
}

// begin records a run, with the messages before its input, and starts its workflow.
func (s *Service) begin(ctx context.Context, n NewRun, run agent.Run, before takenOver) (agent.Run, error) {
	known, err := s.findRunOfRequest(ctx, run.Tenant, n.Request)
	switch {
	case err != nil:
		return agent.Run{}, err
	case known != nil && !known.EndedUnbegun():
		return *known, nil
	case known != nil:
		if run.ID, err = uuid7.New(); err != nil {
			return agent.Run{}, err
		}
		if run.WorkflowID, err = s.workflowID(ctx, run.Tenant, run.Agent, run.ID); err != nil {
			return agent.Run{}, err
		}
	}
	first, start, err := opening(n, run, before)
	if err != nil {
		return agent.Run{}, err
	}
	run, _, err = s.accept(ctx, run, first, before, start)
	return run, err
}

// opening returns the first message of a run, and the start of its workflow.
func opening(n NewRun, run agent.Run, before takenOver) (*agent.Message, agent.Start, error) {
	content, err := firstContent(n.Input)
	if err != nil {
		return nil, agent.Start{}, err
	}
	input := wire.NewAgentRun(run.Principal, run.ID)
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, agent.Start{}, fmt.Errorf("encoding the workflow's input: %w", err)
	}
	first := &agent.Message{ID: input.Head, Role: agent.RoleUser, Content: content}
	if len(before.messages) > 0 {
		first.ParentID = answeredBy(before.messages)
	}
	return first, agent.Start{
		Workflow: wire.AgentRunWorkflow, Summary: "agent " + run.Agent, Agent: run.Agent, Input: raw,
		Memo: n.Request.memo(),
	}, nil
}

// newRun returns the record of a requested run. It refuses a run that could only
// fail, so that the caller gets the reason at once.
func (s *Service) newRun(ctx context.Context, n NewRun) (agent.Run, error) {
	tenant := n.Principal.Tenant
	found, err := s.cfg.Store.FindAgent(ctx, tenant, n.Agent)
	if err != nil {
		return agent.Run{}, fmt.Errorf("finding agent %q: %w", n.Agent, err)
	}
	versions, err := s.cfg.Store.ListAgentVersions(ctx, tenant, found.ID)
	if err != nil {
		return agent.Run{}, fmt.Errorf("listing the versions of agent %q: %w", n.Agent, err)
	}
	chosen, err := resolver.ChooseAgent(found, versions, n.Constraint, n.Mode)
	if err != nil {
		return agent.Run{}, err
	}
	if chosen.Snapshot.OnUnavailableTool == agent.RefuseRun {
		_, unavailable, err := s.cfg.Resolver.Bind(ctx, n.Principal, chosen.Snapshot.Tools, n.Mode)
		if err = cmp.Or(err, resolver.RefuseRun(found.Slug, unavailable)); err != nil {
			return agent.Run{}, err
		}
	}
	id, err := n.Request.newRunID()
	if err != nil {
		return agent.Run{}, err
	}
	workflowID, err := s.workflowID(ctx, tenant, found.Slug, id)
	if err != nil {
		return agent.Run{}, err
	}
	run := agent.Run{
		ID: id, Tenant: tenant, Kind: agent.RunKindAgent, AgentID: found.ID, Agent: found.Slug,
		Mode: n.Mode, Principal: n.Principal, Status: agent.RunPending, Input: n.Input,
		WorkflowID: workflowID, FollowFor: n.FollowFor,
	}
	if n.Constraint != "" {
		run.AgentVersion = chosen.Number // Fixed now, even if another version is published before the run begins.
	}
	return run, nil
}

// firstContent returns the input of a run as the content of its first message: a
// string as text, any other value as JSON.
func firstContent(input json.RawMessage) ([]tool.Content, error) {
	input = bytes.TrimSpace(input)
	var text string
	switch {
	case len(input) == 0 || bytes.Equal(input, []byte("null")) || bytes.Equal(input, []byte(`""`)):
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "runs.Start", Path: "/input",
			Msg: "input is empty: an agent needs something to begin with",
		}
	case json.Unmarshal(input, &text) == nil:
		return []tool.Content{tool.Text(text)}, nil
	default:
		return []tool.Content{tool.JSON(input)}, nil
	}
}

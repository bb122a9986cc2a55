package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const (
	// belowEvery is how often runs below a call are looked at for what they wait for: their events are their own.
	belowEvery = 2 * time.Second
	// maxBelow bounds the approvals of a call's own run that are passed over.
	maxBelow = 50
)

// nests reports whether calls of a type may start runs of their own.
func nests(i tool.Implementation) bool {
	switch i { //nolint:exhaustive // The others start none.
	case tool.AgentCall, tool.Task, tool.Prompt, tool.Composition, tool.Graph:
		return true
	default:
		return false
	}
}

// below returns what a run below a call waits for, the oldest first; nil for nothing. What the call's own run waits
// for comes with its events.
func (s *Server) below(ctx context.Context, c *Caller, w waiting) (*hold, error) {
	asked, err := s.cfg.Record.ListApprovals(ctx, wait.Query{
		Tenant: c.Principal.Tenant, RunID: w.call.RunID, Status: wait.Pending, Oldest: true, Limit: maxBelow,
	})
	if err != nil {
		return nil, fmt.Errorf("looking for approvals below a call: %w", err)
	}
	for i := range asked {
		if a := &asked[i]; a.RunID != w.call.RunID {
			return approvalHold(a), nil
		}
	}
	open, err := s.cfg.Record.ListCalls(ctx, wait.CallQuery{
		Tenant: c.Principal.Tenant, RunID: w.call.RunID, Status: wait.CallsOpen, Of: tool.Input, Oldest: true,
		Limit: maxBelow,
	})
	if err != nil {
		return nil, fmt.Errorf("looking for requests for input below a call: %w", err)
	}
	for i := range open {
		if p := &open[i]; p.RunID != w.call.RunID && p.RequiresResponse && !p.Async {
			return inputHold(p), nil
		}
	}
	return nil, nil
}

// approvalHold is what a call waits for by a recorded approval.
func approvalHold(a *wait.Approval) *hold {
	return &hold{invocation: a.ID, asked: &agent.ApprovalAsked{
		Tool: a.Tool, Version: a.Version, CallID: a.CallID, ApprovalID: a.ID, Round: a.Round, Message: a.Message,
		Binding: a.Binding, Needed: a.Needed, ExpiresAt: a.ExpiresAt,
	}}
}

// inputHold is what a call waits for by a recorded request for input.
func inputHold(p *wait.Call) *hold {
	return &hold{invocation: p.ID, input: &agent.CallOffered{
		Kind: input.Kind, Tool: p.Slug, Version: p.Version, CallID: p.CallID, PendingID: p.ID, Intent: p.Intent,
		Shown: p.Shown, RequiresResponse: true, AnswerBy: p.AnswerBy,
	}}
}

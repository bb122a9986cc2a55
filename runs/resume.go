package runs

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Resume continues a graph from a node that another call of it came to.
type Resume struct {
	Invocation string // The other call, which has ended.
	Node       string // Outside of bodies; the last one that failed when empty.
}

// resumed completes a call with what it continues, and returns that; nil where it continues nothing.
func (s *Service) resumed(ctx context.Context, n *NewCall) (*tool.Invocation, error) {
	if n.Resume == nil {
		return nil, nil //nolint:nilnil // It continues nothing.
	}
	before, err := s.cfg.Store.FindInvocation(ctx, n.Principal.Tenant, n.Resume.Invocation)
	switch {
	case err != nil:
		return nil, fmt.Errorf("finding the call to continue: %w", err)
	case before.Implementation != tool.Graph:
		return nil, notResumed("/resume/invocation", "the call is of %s, which is no graph", before.Slug)
	case before.Mode != n.Node.Mode:
		return nil, notResumed("/resume/invocation", "the call was made in %s mode: continue it in that", before.Mode)
	case !before.Status.Final():
		return nil, &tool.Error{
			Kind: tool.Conflict, Op: "runs.Call", Path: "/resume/invocation",
			Msg: "the call has not ended: cancel its run, or wait for it",
		}
	}
	if n.Node.Tool.Constraint == "" {
		n.Node.Tool.Constraint = before.Version
	}
	if len(n.Node.Arguments) == 0 {
		n.Node.Arguments = before.Input
	}
	if err := s.inherit(ctx, n, before.RunID); err != nil {
		return nil, err
	}
	n.Node.From = &wire.GraphFrom{EffectID: before.EffectID, RunID: before.RunID, Node: n.Resume.Node}
	return &before, nil
}

// inherit gives a call what the run of the one that it continues has of untrusted sources: its nodes go on with what
// they read there.
func (s *Service) inherit(ctx context.Context, n *NewCall, runID string) error {
	if runID == "" {
		return nil
	}
	run, err := s.cfg.Store.FindRun(ctx, n.Principal.Tenant, runID)
	if err != nil {
		return fmt.Errorf("finding the run of the call to continue: %w", err)
	}
	n.ByLink, n.taint = n.ByLink || run.ByLink, run.Taint
	return nil
}

// resumes refuses a call that cannot continue another one.
func (s *Service) resumes(
	ctx context.Context, tenant tool.TenantID, r *Resume, before *tool.Invocation, resolved *resolver.Resolved,
) error {
	if r == nil {
		return nil
	}
	if before.ToolID != resolved.Tool.ID {
		return notResumed("/resume/invocation", "the call is of %s, and not of %s", before.Slug, resolved.Tool.Slug)
	}
	snapshot := resolved.Version.Snapshot
	g, err := graph.Parse(snapshot.Config, snapshot.InputSchema)
	if err != nil {
		return err
	}
	passed, err := s.cfg.Store.ListPath(ctx, graph.Run{
		Tenant: tenant, RunID: before.RunID, EffectID: before.EffectID,
	})
	if err != nil {
		return fmt.Errorf("reading the nodes of the call: %w", err)
	}
	if _, _, err := g.Resume(passed, r.Node); err != nil {
		return notResumed("/resume/node", "%s", tool.AsError(err).Msg)
	}
	return nil
}

func notResumed(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "runs.Call", Path: path, Msg: fmt.Sprintf(format, args...)}
}

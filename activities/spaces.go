package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// Spaces is what runs of agents know of spaces. Package store implements it.
type Spaces interface {
	space.Visits
	ListSpaces(ctx context.Context, q space.Query) ([]space.Space, error)
}

// Bounds of what the instructions of a turn say of spaces and notes.
const (
	maxToldSpaces = 20
	maxToldNotes  = 8 << 10 // Bytes.
)

// withSpaceTools adds the built-ins of spaces to the bound tools of an agent that works in them. It
// fails with tool.Conflict where another tool of the agent has the name of one.
func (a *Activities) withSpaceTools(
	ctx context.Context, p tool.Principal, d *agent.Definition, bound []*resolver.Resolved, mode tool.Mode,
) ([]*resolver.Resolved, error) {
	if !d.InSpaces() {
		return bound, nil
	}
	own, err := a.Resolver.BindBuiltins(ctx, p, agent.SpaceTools(), mode)
	if err != nil {
		return nil, fmt.Errorf("binding the tools of spaces: %w", err)
	}
	return resolver.Join(own, bound)
}

// surroundings are what an agent knows at a turn: where it is, where it may go, and its notes.
type surroundings struct {
	place  *space.Place
	spaces []space.Space
	notes  []space.Note
}

// surroundings reads them; nil for an agent that works outside of spaces.
func (a *Activities) surroundings(
	ctx context.Context, q question, plan *agent.Plan, d *agent.Definition,
) (*surroundings, error) {
	if !d.InSpaces() {
		return nil, nil //nolint:nilnil // It has none.
	}
	if a.Spaces == nil {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "activities.Advance", Msg: "this worker cannot run agents that work in spaces",
		}
	}
	var out surroundings
	tenant := q.principal.Tenant
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		out.place, err = a.Spaces.RunSpace(ctx, tenant, q.runID)
		return err
	})
	group.Go(func() (err error) {
		member := space.Member{Kind: space.Agent, Name: plan.Agent}
		q := space.Query{Tenant: tenant, Member: &member, Limit: maxToldSpaces}
		if !slices.Contains(plan.Spaces, agent.AllSpaces) {
			q.Slugs = plan.Spaces
		}
		out.spaces, err = a.Spaces.ListSpaces(ctx, q)
		return err
	})
	group.Go(func() (err error) {
		out.notes, err = a.Spaces.ListNotes(ctx, tenant, plan.AgentID, "")
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("reading where the agent is: %w", err)
	}
	return &out, nil
}

// instructions returns the text that follows the agent's own instructions: its space, the spaces that it may
// enter and its notes (checklist S1-27).
func (s *surroundings) instructions(plan *agent.Plan) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n# Spaces\nPeople and agents talk in spaces. Call enter_space before you call a tool that is " +
		"visible, and before send_message: what you send, and your calls of visible tools, appear in the space that you " +
		"are in. " +
		"What you answer without send_message is not shown in a space. Call skip when there is nothing to do.\n")
	if s.place != nil {
		fmt.Fprintf(&b, "You are in the space %s (%s).\n", s.place.Slug, space.OneLine(s.place.Name))
	} else {
		b.WriteString("You are not in a space.\n")
	}
	listed := 0
	for _, sp := range s.spaces {
		if !plan.MayEnter(sp.Slug) {
			continue
		}
		if listed == 0 {
			b.WriteString("Spaces that you may enter:\n")
		}
		listed++
		fmt.Fprintf(&b, "- %s: %s\n", sp.Slug, tool.Clip(space.OneLine(sp.Name+" "+sp.Description), 200))
	}
	if listed == 0 {
		b.WriteString("You are a member of no space that you may enter.\n")
	}
	s.writeNotes(&b)
	return b.String()
}

// writeNotes lists the notes of the agent by kind, as far as there is room.
func (s *surroundings) writeNotes(b *strings.Builder) {
	titles := map[space.NoteKind]string{space.Goal: "Goals", space.Memory: "Memories", space.Plan: "Plans"}
	end := b.Len() + maxToldNotes
	for _, kind := range space.NoteKinds() {
		first, left := true, 0
		for _, n := range s.notes {
			if n.Kind != kind {
				continue
			}
			if first {
				fmt.Fprintf(b, "\n# %s\n", titles[kind])
				first = false
			}
			if b.Len()+len(n.Key)+len(n.Text) > end {
				left++
				continue
			}
			done := ""
			if n.Done {
				done = " (done)"
			}
			fmt.Fprintf(b, "- %s%s: %s\n", space.OneLine(n.Key), done, space.Indented(n.Text))
		}
		if left > 0 {
			fmt.Fprintf(b, "- and %d more\n", left)
		}
	}
}

// unask makes calls that a person would be asked about, and that have no space to be shown in, start
// without: they are answered that there is none.
func (k *kit) unask(calls []agent.PreparedCall) {
	for i := range calls {
		t := k.find(calls[i].Slug)
		switch {
		case t == nil:
		case t.pin.Builtin == agent.EnterSpaceTool:
			k.inSpace = true
		case t.pin.Builtin == agent.LeaveSpaceTool:
			k.inSpace = false
		case t.pin.Shown && !k.inSpace:
			calls[i].Asks = nil
		}
	}
}

// outside ends an admitted call of a visible tool whose run is in no space: it is answered, and
// nothing runs (checklist S1-21). It reports whether it did.
func (t *attempt) outside(ctx context.Context, ticket ledger.Ticket) (outcome ledger.Outcome, ended bool, err error) {
	if !t.in.Pin.Shown || ticket.Done != nil || ticket.Fence == 0 || t.in.ParentID != "" {
		return outcome, false, nil
	}
	var place *space.Place
	if t.a.Spaces != nil {
		place, err = t.a.Spaces.RunSpace(ctx, t.in.Principal.Tenant, t.in.RunID)
	}
	switch {
	case err != nil:
		outcome, err = t.fail(ctx, fmt.Errorf("finding the space of the run: %w", err))
		return outcome, true, err
	case place != nil:
		return outcome, false, nil
	}
	raw, err := json.Marshal(map[string]string{"error": space.NotIn(t.in.Pin.Slug)})
	if err != nil {
		return outcome, true, fmt.Errorf("encoding the answer: %w", err)
	}
	answer := tool.JSONResult(raw)
	answer.IsError = true
	outcome, err = t.settle(ctx, ledger.Settlement{Status: tool.StatusCompleted, Result: answer, Unsent: true})
	return outcome, true, err
}

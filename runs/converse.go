package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// Continuation asks for a run that goes on where another one ended, or from an earlier turn
// of it.
type Continuation struct {
	Request   Request
	Principal tool.Principal  // Who continues the run, for whom the new one acts. Its tenant is required.
	RunID     string          // The run that is continued. Required.
	Input     json.RawMessage // What the user says next, as in [NewRun]. Required.
	// AfterTurn forks the run: the new one takes over the transcript up to this turn. Zero
	// for all of it.
	AfterTurn int
	// Constraint selects another version of the agent. Empty for the version of the run
	// that is continued; in debug mode for the draft.
	Constraint string
	FollowFor  time.Duration // As in [NewRun].
}

// takenOver is what a run takes over from the one that it continues, or from messages that wake its agent.
type takenOver struct {
	messages []agent.Message
	inbox    bool        // Whether it takes what is in the inbox, too.
	woken    *space.Wake // That it begins with.
}

// Continue starts a run that takes over the transcript of another one, and answers the
// input after it. The other run stays as it is, and the new one has limits of its own, and
// what was in the inbox of the other. It fails as [Service.Start] does, and with
// tool.Conflict for a run that is no agent's, or whose last turn that is taken over has calls
// without an answer.
//
// A run that goes on gets the input into its inbox, and is returned: its next turn takes it
// up. It keeps its version.
func (s *Service) Continue(ctx context.Context, c Continuation) (agent.Run, error) {
	other, err := s.cfg.Store.FindRun(ctx, c.Principal.Tenant, c.RunID)
	if err != nil {
		return agent.Run{}, fmt.Errorf("finding the run to continue: %w", err)
	}
	if other.Kind != agent.RunKindAgent {
		return agent.Run{}, continueConflict("the run is a " + string(other.Kind) + ", not an agent's: it has no transcript")
	}
	if !other.Status.Final() && c.AfterTurn == 0 {
		if said, err := s.say(ctx, c, &other); said || err != nil {
			return other, err
		}
	}
	before, err := s.cfg.Store.Transcript(ctx, c.Principal.Tenant, other.ID)
	if err != nil {
		return agent.Run{}, fmt.Errorf("reading the transcript: %w", err)
	}
	before, turn, err := upTo(before, c.AfterTurn)
	if err != nil {
		return agent.Run{}, err
	}
	n := NewRun{
		Request: c.Request, Principal: c.Principal, Agent: other.AgentID, Mode: other.Mode, Input: c.Input,
		Constraint: c.Constraint, FollowFor: c.FollowFor,
	}
	if n.Mode == tool.Production {
		n.Constraint = cmp.Or(n.Constraint, other.AgentVersion)
	}
	run, err := s.newRun(ctx, n)
	if err != nil {
		return agent.Run{}, err
	}
	run.Continues = &agent.Continued{RunID: other.ID, Turn: turn}
	return s.begin(ctx, n, run, takenOver{messages: before, inbox: c.AfterTurn == 0})
}

// say puts the input into the inbox of a run that goes on, and reports whether it did. One
// that has ended meanwhile is read again.
func (s *Service) say(ctx context.Context, c Continuation, run *agent.Run) (bool, error) {
	if c.Constraint != "" {
		return false, continueConflict("the run goes on, and keeps its version: leave the version out, or wait for its end")
	}
	content, err := firstContent(c.Input)
	if err != nil {
		return false, err
	}
	said, err := s.cfg.Store.AddToInbox(ctx, agent.InboxItem{
		Tenant: run.Tenant, RunID: run.ID, Kind: agent.InboxMessage, Content: content, By: c.Principal.Subject,
	})
	if err != nil {
		return false, fmt.Errorf("adding to the inbox: %w", err)
	}
	if !said {
		*run, err = s.cfg.Store.FindRun(ctx, run.Tenant, run.ID)
	}
	return said, err //nolint:wrapcheck // The store says what failed.
}

// upTo returns the part of a transcript up to a turn, or all of it for turn 0, and its last
// turn.
func upTo(messages []agent.Message, turn int) ([]agent.Message, int, error) {
	last := 0
	for i := range messages {
		last = max(last, messages[i].Turn)
	}
	if turn < 0 || turn > last {
		return nil, 0, &tool.Error{
			Kind: tool.Invalid, Op: "runs.Continue", Path: "/after_turn",
			Msg: fmt.Sprintf("the run has no turn %d: it has %d", turn, last),
		}
	}
	kept, open := messages, 0
	for i := range messages {
		if turn > 0 && messages[i].Turn > turn {
			kept = messages[:i]
			break
		}
		switch messages[i].Role {
		case agent.RoleAssistant:
			open = len(messages[i].Calls)
		case agent.RoleTool:
			open--
		case agent.RoleSystem, agent.RoleUser:
		}
	}
	if turn == 0 {
		turn = last
	}
	if open > 0 {
		return nil, 0, continueConflict(fmt.Sprintf(
			"turn %d has calls without an answer: continue from a turn before it", turn))
	}
	return kept, turn, nil
}

// answeredBy returns the message that the next one of a transcript answers: answers of tools
// hang on the message that made the calls.
func answeredBy(messages []agent.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role != agent.RoleTool {
			return m.ID
		}
	}
	return ""
}

// Rerun asks for a new run with the input of another one.
type Rerun struct {
	Request    Request
	Principal  tool.Principal // For whom the new run acts. Its tenant is required.
	RunID      string         // The run that is repeated. Required.
	Constraint string         // As in [NewRun]: the highest published version, not that of the run.
	FollowFor  time.Duration  // As in [NewRun].
}

// Rerun starts a run of the same agent with the same input and mode, and what the run took
// over from another one. Where that run began tainted, its input is what taints the new one. It fails as
// [Service.Start] does, and with tool.Conflict for a run that is no agent's.
func (s *Service) Rerun(ctx context.Context, r Rerun) (agent.Run, error) {
	other, err := s.cfg.Store.FindRun(ctx, r.Principal.Tenant, r.RunID)
	if err != nil {
		return agent.Run{}, fmt.Errorf("finding the run to repeat: %w", err)
	}
	if other.Kind != agent.RunKindAgent {
		return agent.Run{}, continueConflict("the run is a " + string(other.Kind) + ", not an agent's: make the call again")
	}
	n := NewRun{
		Request: r.Request, Principal: r.Principal, Agent: other.AgentID, Mode: other.Mode, Input: other.Input,
		Constraint: r.Constraint, FollowFor: r.FollowFor,
	}
	run, err := s.newRun(ctx, n)
	if err != nil {
		return agent.Run{}, err
	}
	if t := other.Taint; t != nil && t.Turn == 0 {
		run.Taint = t
	}
	var before []agent.Message
	if other.Continues != nil {
		if before, err = s.cfg.Store.Transcript(ctx, r.Principal.Tenant, other.ID); err != nil {
			return agent.Run{}, fmt.Errorf("reading the transcript: %w", err)
		}
		first := slices.IndexFunc(before, func(m agent.Message) bool { return m.ID == ledger.FirstMessageID(other.ID) })
		before, run.Continues = before[:max(first, 0)], other.Continues
	}
	return s.begin(ctx, n, run, takenOver{messages: before})
}

func continueConflict(msg string) error {
	return &tool.Error{Kind: tool.Conflict, Op: "runs.Continue", Msg: msg}
}

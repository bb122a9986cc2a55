package loop

import (
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/wire"
)

// Steps is a composition: its steps run one after the other, until one fails that the
// rest does not tolerate.
type Steps struct {
	in    wire.InvokeInput
	state wire.Steps
}

// NewSteps returns the steps of a composition that was opened.
func NewSteps(in wire.InvokeInput) *Steps { return &Steps{in: in} }

// Next returns the call of the next step, or false when there is none. At is when it
// is asked for; it only orders the step in lists where the composition's own id does
// not.
func (s *Steps) Next(at time.Time) (wire.InvokeInput, bool) {
	if s.state.Stopped || s.state.Begun >= len(s.in.Pin.Steps) {
		return wire.InvokeInput{}, false
	}
	i := s.state.Begun
	s.state.Begun++
	step := s.in.Pin.Steps[i]
	out := wire.InvokeInput{
		PreparedCall: agent.PreparedCall{CallIdentity: s.in.CallIdentity, Slug: step.Pin.Slug, Raw: true},
		Pin:          step.Pin, Test: s.in.Test,
		Step: &wire.Step{EffectID: s.in.EffectID, ToolID: s.in.Pin.ToolID, Digest: s.in.Pin.Digest, Index: i},
	}
	out.MessageID, out.ParentID = "", s.in.InvocationID
	out.CallID, out.EffectID = s.in.CallID+"/"+step.ID, ledger.StepEffect(s.in.EffectID, step.ID)
	out.InvocationID = ledger.StepInvocationID(s.in.InvocationID, i, out.EffectID, at)
	return out, true
}

// Ended records how the step that [Steps.Next] returned last has ended.
func (s *Steps) Ended(failed bool) {
	if failed && !s.in.Pin.Steps[s.state.Begun-1].Continue {
		s.state.Stopped = true
	}
}

// Stop starts no further step.
func (s *Steps) Stop() {
	if s.state.Begun < len(s.in.Pin.Steps) {
		s.state.Stopped = true
	}
}

// State returns the progress, for the settlement of the composition.
func (s *Steps) State() wire.Steps { return s.state }

package storetest

import (
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// callModel is what the records of one call have to say, after what was done to it one by
// one. Each method is the method of the store, and returns the kind of its error.
type callModel struct {
	held       bool // The policy of its tool holds it until it is approved.
	phase      tool.Phase
	fence      int64
	sentBefore bool
	status     tool.InvocationStatus // How it ended; empty while it has not.

	request wait.Status // Empty before it is asked for.
	binding string
	asked   string
	round   int
	needed  int
	overdue bool
	made    map[string]modelDecision // By subject, in this round.

	outside wait.CallStatus // Empty before it is offered.
	late    bool
	answer  int // The result that is kept; 0 for none.
}

type modelDecision struct {
	approve bool
	edited  string // Digest.
}

func (m *callModel) approved() bool { return m.request == wait.Approved }

func (m *callModel) admit(repeatable, send bool) tool.Kind {
	switch {
	case m.phase == tool.PhaseDone:
		return ""
	case m.phase == tool.PhaseSent && !repeatable:
		return tool.Unknown
	}
	m.sentBefore = m.sentBefore || m.phase == tool.PhaseSent
	m.fence++
	switch {
	case m.held && !m.approved():
		m.phase = tool.PhaseAccepted
	case send && !m.held:
		m.phase = tool.PhaseSent
	default:
		m.phase = tool.PhaseAdmitted
	}
	return ""
}

func (m *callModel) ask(binding string) tool.Kind {
	renew := m.approved() && binding != m.binding && binding != m.asked
	switch {
	case m.phase == tool.PhaseDone:
		return tool.Conflict
	case m.request == wait.Pending && m.phase == tool.PhaseAccepted, m.request.Final() && !renew:
		return ""
	case m.phase == tool.PhaseSent:
		return tool.Conflict
	}
	if m.phase == "" {
		m.fence++ // It is opened, and then held.
	}
	m.phase = tool.PhaseAccepted
	m.fence++
	if m.request == "" || renew {
		m.request, m.binding, m.asked, m.overdue, m.made = wait.Pending, binding, binding, false, map[string]modelDecision{}
		m.round++
	}
	return ""
}

func (m *callModel) decide(subject string, d modelDecision, binding, seen string) tool.Kind {
	if m.request == "" {
		return tool.NotFound
	}
	if made, ok := m.made[subject]; ok {
		if made.approve != d.approve || d.edited != "" && made.edited != d.edited {
			return tool.Conflict
		}
		return ""
	}
	switch {
	case m.request.Final(), m.overdue, seen != "" && seen != m.binding, d.edited != "" && len(m.made) > 0:
		return tool.Conflict
	}
	m.made[subject] = d
	if d.edited != "" {
		m.binding = binding
	}
	switch {
	case !d.approve:
		m.request = wait.Rejected
	case len(m.made) >= m.needed:
		m.request = wait.Approved
	}
	return ""
}

// end ends the request as expired or cancelled.
func (m *callModel) end(as wait.Status) tool.Kind {
	switch {
	case m.request == "":
		return tool.NotFound
	case m.request == wait.Pending && (as != wait.Expired || m.overdue):
		m.request = as
	}
	return ""
}

func (m *callModel) markSent(fence int64) tool.Kind {
	switch {
	case m.phase == "":
		return tool.NotFound
	case m.phase != tool.PhaseAdmitted || m.fence != fence:
		return tool.Conflict
	}
	m.phase = tool.PhaseSent
	return ""
}

func (m *callModel) offer(fence int64, async bool) tool.Kind {
	switch {
	case m.phase == tool.PhaseDone, m.phase == tool.PhaseAccepted, m.fence != fence:
		return tool.Conflict
	case m.outside != "":
	case async:
		m.outside = wait.CallPending
	default:
		m.outside = wait.CallWaiting
	}
	return ""
}

// submit reports besides whether the result is the first.
func (m *callModel) submit(n int) (first bool, kind tool.Kind) {
	switch m.outside {
	case wait.CallWaiting:
		m.finish(tool.StatusCompleted)
	case wait.CallPending:
		m.late = true
	case wait.CallResolved:
		return false, ""
	case wait.CallCancelled, wait.CallExpired:
		return false, tool.Conflict
	default:
		return false, tool.NotFound
	}
	m.outside, m.answer = wait.CallResolved, n
	return true, ""
}

// settle reports besides whether the settlement is the first. A failure of a call that may
// have been sent is unknown.
func (m *callModel) settle(fence int64, status tool.InvocationStatus, failure bool) (won bool, kind tool.Kind) {
	switch {
	case m.phase == tool.PhaseDone:
		return false, ""
	case fence != 0 && m.phase == "":
		return false, tool.NotFound
	case fence != 0 && m.fence != fence:
		return false, tool.Conflict
	case failure && (m.phase == tool.PhaseSent || m.sentBefore):
		status = tool.StatusUnknown
	}
	m.finish(status)
	return true, ""
}

func (m *callModel) finish(status tool.InvocationStatus) {
	m.phase, m.status = tool.PhaseDone, status
	if m.request == wait.Pending {
		m.request = wait.Cancelled
		if status == tool.StatusExpired {
			m.request = wait.Expired
		}
	}
	switch {
	case m.outside != wait.CallWaiting, status == tool.StatusCompleted:
	case status == tool.StatusExpired:
		m.outside = wait.CallPending
	default:
		m.outside = wait.CallCancelled
	}
}

// endRun ends what the run waits for.
func (m *callModel) endRun() {
	if m.request == wait.Pending {
		m.request = wait.Cancelled
	}
	if m.outside == wait.CallWaiting {
		m.outside = wait.CallCancelled
	}
}

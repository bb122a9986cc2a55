package agent

import (
	"fmt"
	"time"
)

// TurnCall is a call of a turn with the times of its request and start.
type TurnCall struct {
	Turn      int
	Slug      string // Of the plan's tool; empty when the call names none.
	Refused   bool   // It runs nothing.
	AskedAt   time.Time
	StartedAt *time.Time // Nil until it is admitted.
}

// WaitReason is the reason why calls of a turn do not start at once.
type WaitReason string

// Reasons to wait.
const (
	WaitGroup      WaitReason = "max_concurrency" // The concurrency group has no room.
	WaitBarrier    WaitReason = "not_pure"        // A call that is not pure runs alone.
	WaitSequential WaitReason = "tool_mode"       // The agent's calls run one after another.
)

// Wait explains why calls of one turn waited for others of the turn.
type Wait struct {
	Turn   int
	Calls  int           // How many waited for this reason.
	Most   time.Duration // The longest wait among them, up to now for one that still waits.
	Reason WaitReason
	Group  string // Set for [WaitGroup].
	Tool   string // Slug of the tool that sets the limit, or is not pure.
	Text   string // What to change, for people.
}

// Waits explains which calls of a run waited for others of their turn, and why. It follows the
// schedule of the plan, like the workflow: other delays, such as a busy worker, are part of the
// duration but not a reason. calls are in the order of their turns and positions; now is the end of
// the run, or the current time.
func (p *Plan) Waits(calls []TurnCall, now time.Time) []Wait {
	var out []Wait
	for from := 0; from < len(calls); {
		to := from
		for to < len(calls) && calls[to].Turn == calls[from].Turn {
			to++
		}
		out = append(out, p.turnWaits(calls[from:to], now)...)
		from = to
	}
	return out
}

// turnWaits explains the waits of one turn.
func (p *Plan) turnWaits(calls []TurnCall, now time.Time) []Wait {
	pins, free := make([]*Pin, len(calls)), make([]bool, len(calls))
	for i, c := range calls {
		pin, known := p.Find(c.Slug)
		if known && !c.Refused {
			pins[i] = &pin
		}
		free[i] = pins[i] == nil || pin.Execution.Pure
	}
	var out []Wait
	barrier := "" // The tool that is not pure and ran last.
	for _, segment := range Segments(p.ToolMode, free) {
		inFlight := make(map[string]int)
		limits := p.LimitGroups(made(pins[segment.From:segment.To]))
		for i := segment.From; i < segment.To; i++ {
			if pins[i] == nil {
				continue
			}
			wait := p.reason(pins[i], i, inFlight, limits, barrier)
			if !free[i] {
				barrier = pins[i].Slug
			}
			if wait.Reason != "" {
				out = addWait(out, wait, calls[i], now)
			}
		}
	}
	return out
}

// made removes the calls that run nothing.
func made(pins []*Pin) []*Pin {
	var out []*Pin
	for _, pin := range pins {
		if pin != nil {
			out = append(out, pin)
		}
	}
	return out
}

// reason returns why the call at a position waits for others, if it does.
func (p *Plan) reason(
	pin *Pin, position int, inFlight map[string]int, limits map[string]GroupLimit, barrier string,
) Wait {
	group := pin.Execution.Group()
	limit := limits[group]
	inFlight[group]++
	switch {
	case p.ToolMode != ParallelSafe && position > 0:
		return Wait{
			Reason: WaitSequential,
			Text:   "the agent's tool_mode runs one call after another; parallel_safe runs pure calls side by side",
		}
	case p.ToolMode != ParallelSafe:
		return Wait{}
	case pin.Execution.Pure && inFlight[group] > limit.Limit:
		return Wait{Reason: WaitGroup, Group: group, Tool: limit.Tool, Text: limit.explain(group)}
	case !pin.Execution.Pure && position > 0:
		return Wait{
			Reason: WaitBarrier, Tool: pin.Slug, Text: pin.Slug + " is not pure, so it runs alone, after the calls before it",
		}
	case barrier != "":
		return Wait{
			Reason: WaitBarrier, Tool: barrier, Text: barrier + " is not pure, so it runs alone, before the calls after it",
		}
	default:
		return Wait{}
	}
}

// explain names the setting of the limit, and how to raise it.
func (l GroupLimit) explain(group string) string {
	text := fmt.Sprintf("concurrency group %q runs %d at a time: ", group, l.Limit)
	switch l.Cause {
	case LimitUnset:
		return text + "max_concurrency of " + l.Tool + " is not set; set it, or the agent's max_concurrency for the group"
	case LimitTool:
		return text + "max_concurrency of " + l.Tool + " allows no more"
	case LimitAgent:
		return text + "the agent's max_concurrency for the group sets this limit"
	default:
		return text
	}
}

// addWait adds a call that waited until it started or, if it has not started, until now.
func addWait(waits []Wait, w Wait, c TurnCall, now time.Time) []Wait {
	until := now
	if c.StartedAt != nil {
		until = *c.StartedAt
	}
	waited := until.Sub(c.AskedAt)
	w.Turn, w.Calls, w.Most = c.Turn, 1, max(waited, 0)
	for i := range waits {
		if known := &waits[i]; known.Turn == w.Turn && known.Text == w.Text {
			known.Calls++
			known.Most = max(known.Most, w.Most)
			return waits
		}
	}
	return append(waits, w)
}

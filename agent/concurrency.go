package agent

// Segment is a range of a turn's calls, [From, To), that are scheduled
// together.
type Segment struct{ From, To int }

// Segments cuts the calls of a turn, in the order the model made them. The flags
// in free, one per call, report whether it may run concurrently. In [ParallelSafe] mode a
// maximal stretch of free calls is one segment, and any other call is a
// barrier, alone in its segment. In [Sequential] mode every call is.
func Segments(mode ToolMode, free []bool) []Segment {
	var out []Segment
	for i := 0; i < len(free); {
		j := i + 1
		if mode == ParallelSafe && free[i] {
			for j < len(free) && free[j] {
				j++
			}
		}
		out = append(out, Segment{i, j})
		i = j
	}
	return out
}

// LimitCause is the setting that a concurrency limit is from.
type LimitCause string

// Causes of a limit.
const (
	LimitUnset LimitCause = "unset" // Neither the tool nor the agent says more than the default.
	LimitTool  LimitCause = "tool"  // The tool's own max_concurrency.
	LimitAgent LimitCause = "agent" // The agent's max_concurrency of the group.
)

// GroupLimit is the maximum number of calls of a concurrency group that a run
// has in flight at once.
type GroupLimit struct {
	Limit int
	Cause LimitCause
	Tool  string // Slug of the tool whose limit it is: the least of the group's.
}

// LimitGroup returns how many calls of a pinned tool may be in flight at once
// in its concurrency group. The tool's max_concurrency is an upper bound: the
// agent's value for the group lowers it, and raises it only where the tool
// leaves it at the default.
func (p *Plan) LimitGroup(pin *Pin) GroupLimit {
	own, asked := pin.Execution.MaxConcurrency, p.MaxConcurrency[pin.Execution.Group()]
	out := GroupLimit{Limit: pin.Execution.Limit(), Cause: LimitTool, Tool: pin.Slug}
	switch {
	case own <= 0 && asked <= 0:
		out.Cause = LimitUnset
	case asked > 0 && (own <= 0 || asked < own):
		out.Limit, out.Cause = asked, LimitAgent
	}
	return out
}

// LimitGroups returns the limit of each concurrency group among the pinned
// tools of the given calls: the least of the group's tools.
func (p *Plan) LimitGroups(pins []*Pin) map[string]GroupLimit {
	out := make(map[string]GroupLimit)
	for _, pin := range pins {
		group, limit := pin.Execution.Group(), p.LimitGroup(pin)
		known, ok := out[group]
		if !ok || limit.Limit < known.Limit {
			out[group] = limit
		}
	}
	return out
}

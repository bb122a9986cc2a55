package draw

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
)

// count is what is known of a node of a run, or of all of it in the items and iterations it is in.
type count struct {
	completed, total, bodies, bodiesCompleted int
	by                                        map[graph.Status]int
}

// Run shows how far a run came: statuses by path of records ([graph.Record]). Nodes in bodies
// are counted over items and iterations.
func (p *Picture) Run(statuses map[string]graph.Status) {
	p.counts = map[string]count{}
	for path, status := range statuses {
		parts := strings.Split(path, "/")
		if path == "" {
			continue
		}
		ofBody := len(parts)%2 == 0 // "each/3": a body of the node "each".
		id := parts[len(parts)-1]
		if ofBody {
			id = parts[len(parts)-2]
		}
		c := p.counts[id]
		switch {
		case ofBody:
			c.bodies++
			if status == graph.Completed {
				c.bodiesCompleted++
			}
		default:
			if c.by == nil {
				c.by = map[graph.Status]int{}
			}
			c.by[status]++
			c.total++
			if status == graph.Completed {
				c.completed++
			}
		}
		p.counts[id] = c
	}
}

// status returns how a node ended; empty where it has not begun, or nothing is known.
func (p *Picture) status(n *node) graph.Status {
	c := p.counts[n.id]
	for _, s := range []graph.Status{graph.Failed, graph.Cancelled, graph.Pending, graph.Completed, graph.Skipped} {
		if c.by[s] > 0 {
			return s
		}
	}
	if c.bodies > 0 { // Its items are there, and it has not ended.
		return graph.Pending
	}
	return ""
}

// badge counts the items of a map, the iterations of a loop, or the outcomes of a node in them.
func (p *Picture) badge(n *node) string {
	c := p.counts[n.id]
	switch {
	case n.kind == flow.Loop && c.bodies > 0:
		return fmt.Sprintf("%d×", c.bodies)
	case c.bodies > 0:
		return fmt.Sprintf("%d/%d", c.bodiesCompleted, c.bodies)
	case c.total > 1:
		return fmt.Sprintf("%d/%d", c.completed, c.total)
	}
	return ""
}

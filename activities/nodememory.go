package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// maxGraphMemory bounds the records that are kept, in bytes of their contents.
const maxGraphMemory = 8 << 20

// graphMemory is what a process knows of the run of a graph. What it does not know it reads.
// Everything that it keeps is immutable. It is not safe for concurrent use.
type graphMemory struct {
	a     *Activities
	graph *graph.Graph
	call  wire.GraphCall
	input json.RawMessage // The graph's arguments; nil until they were read.

	records map[string]*graph.Record
	calls   map[string]*graph.Call   // How calls that were made here have ended, by effect.
	ends    map[string]ledger.Record // Of a composition: how its steps have ended, by id.
	// whole says that there is no record that is not among records.
	whole     bool
	size      int
	unwritten []graph.Record
	places    map[string]int // Of records in unwritten, by path.
	// first is called before records are written: it settles the calls that they rest on. May be nil.
	first func(context.Context) error
}

func (a *Activities) newGraphMemory(ctx context.Context, c wire.GraphCall) (*graphMemory, error) {
	g, err := a.graphOf(ctx, c)
	if err != nil {
		return nil, err
	}
	return &graphMemory{
		a: a, graph: g, call: c, records: map[string]*graph.Record{}, calls: map[string]*graph.Call{},
		ends: map[string]ledger.Record{}, places: map[string]int{},
	}, nil
}

// evaluate evaluates steps, whose records [graphMemory.flush] writes.
func (m *graphMemory) evaluate(ctx context.Context, steps []flow.Step) ([]flow.Evaluated, error) {
	data, calls, err := m.read(ctx, steps)
	if err != nil {
		return nil, err
	}
	out := make([]flow.Evaluated, 0, len(steps))
	var records []graph.Record
	for i, s := range steps {
		e, written, err := m.graph.Evaluate(ctx, s, data, calls[i], time.Now())
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil { // The failure may be that of a condition that was interrupted.
			return nil, ctx.Err()
		}
		out, records = append(out, e), append(records, written...)
	}
	for i := range records {
		m.add(&records[i])
	}
	return out, nil
}

// add keeps a record that is to be written. An item that is still to be written ends in its place.
func (m *graphMemory) add(r *graph.Record) {
	m.keep(r)
	i, ok := m.places[r.Path]
	switch {
	case !ok:
		m.places[r.Path] = len(m.unwritten)
		m.unwritten = append(m.unwritten, *r)
	case m.unwritten[i].Status == graph.Pending:
		m.unwritten[i] = *r
	}
}

// keep keeps a record. The end of an item's body leaves the item as it was.
func (m *graphMemory) keep(r *graph.Record) {
	if before := m.records[r.Path]; before != nil && len(r.Item) == 0 {
		r.Item = before.Item
	}
	m.records[r.Path] = r
	m.size += len(r.Item) + len(r.Result) + len(r.Text) + len(r.State)
}

// arguments returns the arguments of the call of a step's node; of an agent the message.
func (m *graphMemory) arguments(ctx context.Context, s flow.Step) (json.RawMessage, error) {
	data, _, err := m.read(ctx, []flow.Step{s})
	if err != nil {
		return nil, err
	}
	return m.graph.Arguments(s, data)
}

// flush writes the records that were not written yet.
func (m *graphMemory) flush(ctx context.Context) error {
	if len(m.unwritten) > 0 && m.first != nil {
		if err := m.first(ctx); err != nil {
			return err
		}
	}
	if len(m.unwritten) > 0 {
		if err := m.a.Graphs.WriteNodes(ctx, runOf(m.call), m.unwritten); err != nil {
			return fmt.Errorf("recording nodes: %w", err)
		}
		m.unwritten = nil
		clear(m.places)
	}
	return nil
}

// trim forgets the records where they have become large.
func (m *graphMemory) trim(ctx context.Context) error {
	if m.size <= maxGraphMemory {
		return nil
	}
	if err := m.flush(ctx); err != nil {
		return err
	}
	clear(m.records)
	m.size, m.whole = 0, false
	return nil
}

// read returns what steps are evaluated on, and how the calls that they close have ended.
func (m *graphMemory) read(ctx context.Context, steps []flow.Step) (*graph.Data, []*graph.Call, error) {
	if m.graph.Sequence() {
		data, err := m.steps(ctx, m.graph.Needs(steps[0]).Paths) // One after the other.
		return data, nil, err
	}
	if err := m.trim(ctx); err != nil {
		return nil, nil, err
	}
	var paths, below []string
	effects := map[string]struct{}{}
	if m.input == nil {
		effects[m.call.EffectID] = struct{}{}
	}
	for _, s := range steps {
		needs := m.graph.Needs(s)
		paths = append(paths, needs.Paths...)
		if needs.Below != "" {
			below = append(below, needs.Below)
		}
		if effect := m.call.NodeEffect(s); s.Do == flow.PhaseClose && s.Called != nil && m.calls[effect] == nil {
			effects[effect] = struct{}{}
		}
	}
	records, err := m.find(ctx, paths, below)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]ledger.Record{}
	if len(effects) > 0 {
		known, err = m.a.Ledger.Records(ctx, m.call.Principal.Tenant, slices.Sorted(maps.Keys(effects)))
		if err != nil {
			return nil, nil, fmt.Errorf("reading the calls of nodes: %w", err)
		}
	}
	if m.input == nil {
		m.input = known[m.call.EffectID].Arguments
	}
	calls := make([]*graph.Call, len(steps))
	for i, s := range steps {
		if s.Do != flow.PhaseClose || s.Called == nil {
			continue
		}
		if calls[i], err = m.ended(ctx, s, known); err != nil {
			return nil, nil, err
		}
	}
	return &graph.Data{Input: m.input, Records: records, Context: m.context()}, calls, nil
}

func (m *graphMemory) context() graph.Context {
	c := &m.call
	return graph.Context{
		RunID: c.RunID, CallID: c.CallID, Graph: c.Version.Slug + "@" + c.Version.Version, Subject: c.Principal.Subject,
		Mode: string(c.Mode),
	}
}

// find returns the records of paths, and those of the bodies below others, which are not kept.
func (m *graphMemory) find(ctx context.Context, paths, below []string) (map[string]*graph.Record, error) {
	if !m.whole {
		paths = slices.DeleteFunc(paths, func(p string) bool { return m.records[p] != nil })
		slices.Sort(paths)
		found, err := m.readNodes(ctx, graph.Needs{Paths: slices.Compact(paths)})
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			m.keep(r)
		}
	}
	if len(below) == 0 {
		return m.records, nil
	}
	all := maps.Clone(m.records)
	for _, path := range below {
		found, err := m.readNodes(ctx, graph.Needs{Below: path})
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

func (m *graphMemory) readNodes(ctx context.Context, needs graph.Needs) (map[string]*graph.Record, error) {
	if len(needs.Paths) == 0 && needs.Below == "" {
		return nil, nil //nolint:nilnil // Nothing is needed.
	}
	if err := m.flush(ctx); err != nil {
		return nil, err
	}
	found, err := m.a.Graphs.ReadNodes(ctx, runOf(m.call), needs)
	if err != nil {
		return nil, fmt.Errorf("reading nodes: %w", err)
	}
	return found, nil
}

// ended returns how the call or run of a node has ended, as it is recorded; nil where it is
// not, and the step says why.
func (m *graphMemory) ended(ctx context.Context, s flow.Step, known map[string]ledger.Record) (*graph.Call, error) {
	if s.Called.RunID != "" {
		return m.a.nodeRun(ctx, m.call.Principal.Tenant, s)
	}
	effect := m.call.NodeEffect(s)
	if made := m.calls[effect]; made != nil {
		delete(m.calls, effect)
		return made, nil
	}
	record, ok := known[effect]
	if !ok || record.Outcome == nil {
		return nil, nil //nolint:nilnil // It was never made.
	}
	o := record.Outcome
	return &graph.Call{Result: o.Result, Kind: o.Kind, Msg: o.Msg, EffectID: effect}, nil
}

// nodeRun returns how the run of an agent has ended that a node ran.
func (a *Activities) nodeRun(ctx context.Context, tenant tool.TenantID, s flow.Step) (*graph.Call, error) {
	run, err := a.Runs.FindRun(ctx, tenant, s.Called.RunID)
	if err != nil {
		return nil, fmt.Errorf("finding run %s: %w", s.Called.RunID, err)
	}
	out := &graph.Call{RunID: run.ID}
	switch {
	case run.Status == agent.RunCompleted:
		out.Result = &tool.Result{Content: []tool.Content{tool.Text(run.Output)}}
		if json.Valid([]byte(run.Output)) {
			out.Result.Structured = json.RawMessage(run.Output)
		}
	case run.Status.Final():
		out.Kind, out.Msg = run.ErrorKind, run.Error
	case s.Called.Failure != nil:
		out.Kind, out.Msg = s.Called.Failure.Kind, s.Called.Failure.Msg
		end := agent.RunEnd{Tenant: tenant, RunID: run.ID, Status: agent.EndStatus(out.Kind), Kind: out.Kind, Msg: out.Msg}
		if err := a.Runs.FinishRun(ctx, end); err != nil {
			return nil, fmt.Errorf("finishing run %s: %w", run.ID, err)
		}
	default: // Another execution of the workflow started it.
		return nil, &tool.Error{
			Kind: tool.Unavailable, Op: "activities.EvaluateGraph", Msg: "the run of the agent is still running",
			RetryAfter: 2 * time.Second,
		}
	}
	if out.Result == nil && out.Kind == "" {
		out.Kind = tool.Cancelled
	}
	return out, nil
}

package graph

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// Records keeps the records of runs of graphs. Package store implements it. Its methods are safe
// for concurrent use.
type Records interface {
	// WriteNodes writes records. One that exists stays as it is, unless it is pending.
	WriteNodes(ctx context.Context, of Run, records []Record) error
	// ReadNodes returns the records that are needed, by path; those that do not exist are missing.
	ReadNodes(ctx context.Context, of Run, needs Needs) (map[string]*Record, error)
	// ListPath returns the nodes that have ended outside of bodies, and those in bodies that set the
	// state, without their contents, in the order in which they ended.
	ListPath(ctx context.Context, of Run) ([]Passed, error)
	// CopyNodes copies the records of the nodes of a run that ended before one of them began to another
	// run. Records that exist stay.
	CopyNodes(ctx context.Context, from, to Run, before string) error
	// ListNodes returns records of the graphs of a run in the order in which they were written,
	// after a place; from the first on where that is zero.
	ListNodes(ctx context.Context, tenant tool.TenantID, runID string, after int64, limit int) ([]Record, error)
}

// Run identifies the run of a graph.
type Run struct {
	Tenant   tool.TenantID
	RunID    string // The run whose call the graph is.
	CallID   string
	EffectID string // Of that call.
}

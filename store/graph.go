package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// nodeRow is a record of a node, as a statement takes it.
type nodeRow struct {
	Path      string          `json:"path"`
	Node      string          `json:"node"`
	Kind      flow.Kind       `json:"kind"`
	Status    graph.Status    `json:"status"`
	Item      json.RawMessage `json:"item,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Text      string          `json:"text"`
	ErrorKind tool.Kind       `json:"error_kind"`
	Error     string          `json:"error"`
	State     json.RawMessage `json:"state,omitempty"`
	Branch    string          `json:"branch"`
	Call      string          `json:"call"`
	ChildRun  string          `json:"child_run,omitempty"`
	Attempts  int             `json:"attempts"`
	EndedAt   *time.Time      `json:"ended_at,omitempty"`
}

// nodesAtOnce bounds the records of one statement.
const nodesAtOnce = 1000

// WriteNodes implements [graph.Records].
func (s *Store) WriteNodes(ctx context.Context, of graph.Run, records []graph.Record) error {
	const op = "store.WriteNodes"
	for len(records) > 0 {
		part := records[:min(len(records), nodesAtOnce)]
		records = records[len(part):]
		rows := make([]nodeRow, len(part))
		for i := range part {
			rows[i] = nodeRowOf(&part[i])
		}
		raw, err := json.Marshal(rows)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		err = s.do(ctx, op, of.Tenant, func(q *db.Queries) error {
			return q.WriteGraphNodes(ctx, db.WriteGraphNodesParams{
				TenantID: string(of.Tenant), RunID: of.RunID, EffectID: of.EffectID, CallID: text(of.CallID),
				Records: storable(raw),
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func nodeRowOf(r *graph.Record) nodeRow {
	row := nodeRow{
		Path: r.Path, Node: r.Node, Kind: r.Kind, Status: r.Status, Item: r.Item, Result: r.Result, Text: r.Text,
		ErrorKind: r.ErrorKind, Error: r.Error, State: r.State, Branch: r.Case, Call: r.EffectID, ChildRun: r.RunID,
		Attempts: r.Attempts,
	}
	if r.Status != graph.Pending {
		row.EndedAt = &r.EndedAt
	}
	return row
}

// ReadNodes implements [graph.Records].
func (s *Store) ReadNodes(ctx context.Context, of graph.Run, needs graph.Needs) (map[string]*graph.Record, error) {
	out := map[string]*graph.Record{}
	if len(needs.Paths) == 0 && needs.Below == "" {
		return out, nil
	}
	err := s.do(ctx, "store.ReadNodes", of.Tenant, func(q *db.Queries) error {
		rows, err := q.ReadGraphNodes(ctx, db.ReadGraphNodesParams{
			TenantID: string(of.Tenant), EffectID: of.EffectID, Paths: needs.Paths, Below: needs.Below,
		})
		for i := range rows {
			r := recordOf(&rows[i])
			out[r.Path] = &r
		}
		return err
	})
	return out, err
}

// ListPath implements [graph.Records].
func (s *Store) ListPath(ctx context.Context, of graph.Run) (passed []graph.Passed, err error) {
	err = s.do(ctx, "store.ListPath", of.Tenant, func(q *db.Queries) error {
		passed = nil
		rows, err := q.ListGraphPath(ctx, db.ListGraphPathParams{TenantID: string(of.Tenant), EffectID: of.EffectID})
		for _, row := range rows {
			passed = append(passed, graph.Passed{
				Path: row.Path, Kind: flow.Kind(row.Kind), Status: graph.Status(row.Status), Case: row.Branch, Sets: row.Sets,
			})
		}
		return err
	})
	return passed, err
}

// CopyNodes implements [graph.Records].
func (s *Store) CopyNodes(ctx context.Context, from, to graph.Run, before string) error {
	return s.do(ctx, "store.CopyNodes", from.Tenant, func(q *db.Queries) error {
		return q.CopyGraphNodes(ctx, db.CopyGraphNodesParams{
			TenantID: string(from.Tenant), FromEffect: from.EffectID, ToEffect: to.EffectID, ToRun: to.RunID, Node: before,
		})
	})
}

// ListNodes implements [graph.Records].
func (s *Store) ListNodes(
	ctx context.Context, tenant tool.TenantID, runID string, after int64, limit int,
) (records []graph.Record, err error) {
	err = s.do(ctx, "store.ListNodes", tenant, func(q *db.Queries) error {
		rows, err := q.ListGraphNodes(ctx, db.ListGraphNodesParams{
			TenantID: string(tenant), RunID: runID, After: after, Limit: pageSize(limit),
		})
		for i := range rows {
			records = append(records, recordOf(&rows[i]))
		}
		return err
	})
	return records, err
}

func recordOf(row *db.GraphNode) graph.Record {
	r := graph.Record{
		Path: row.Path, Node: row.Node, Kind: flow.Kind(row.Kind), Status: graph.Status(row.Status), Item: row.Item,
		Result: row.Result, Text: row.Text, ErrorKind: tool.Kind(row.ErrorKind), Error: row.Error, State: row.State,
		Case: row.Branch, EffectID: row.Call, Attempts: int(row.Attempts), Graph: row.EffectID, Place: row.Place,
	}
	if row.ChildRun != nil {
		r.RunID = *row.ChildRun
	}
	if row.EndedAt != nil {
		r.EndedAt = *row.EndedAt
	}
	return r
}

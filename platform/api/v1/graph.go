package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// Node is what is known of a node of a graph that a run ran: of one that has ended, or of an item
// of a map, which is pending first.
type Node struct {
	GraphEffectID string          `json:"graph_effect_id" doc:"The effect id of the call that the graph is: a run may call several graphs, and one more than once" example:"5f1c…"`
	Path          string          `json:"path" doc:"Where the node is: its id, behind those of the nodes around it and the index of the item or iteration, or the branch. Empty of the graph itself" example:"each/3/charge"`
	Node          string          `json:"node" doc:"Its id; of an item, branch or iteration that of the node around it" example:"charge"`
	Kind          flow.Kind       `json:"kind,omitempty" doc:"Absent of an item, branch or iteration, and of the graph itself" example:"tool"`
	Status        graph.Status    `json:"status" example:"completed"`
	Item          json.RawMessage `json:"item,omitempty" doc:"The item of a map"`
	Result        json.RawMessage `json:"result,omitempty"`
	Text          string          `json:"text,omitempty"`
	ErrorKind     tool.Kind       `json:"error_kind,omitempty"`
	Error         string          `json:"error,omitempty"`
	State         json.RawMessage `json:"state,omitempty" doc:"The state, where the node set it"`
	Case          string          `json:"case,omitempty" doc:"Where a branch went" example:"ship"`
	RunID         string          `json:"run_id,omitempty" doc:"The run of the node's agent"`
	Attempts      int             `json:"attempts,omitempty"`
	EndedAt       *time.Time      `json:"ended_at,omitempty"`
}

// FromNode returns the view of a record.
func FromNode(r graph.Record) Node {
	out := Node{
		Path: r.Path, Node: r.Node, Kind: r.Kind, Status: r.Status, Item: r.Item, Result: r.Result, Text: r.Text,
		ErrorKind: r.ErrorKind, Error: r.Error, State: r.State, Case: r.Case, RunID: r.RunID, Attempts: r.Attempts,
		GraphEffectID: r.Graph,
	}
	if !r.EndedAt.IsZero() {
		out.EndedAt = &r.EndedAt
	}
	return out
}

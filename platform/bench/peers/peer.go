package peers

import (
	"encoding/json"
	"fmt"
	"time"
)

// Peer is an engine, and what a round of work leaves in its storage.
type Peer struct {
	Name  string // Of its module, without the ending.
	Title string
	// Packages are the npm packages whose versions are reported.
	Packages []string
	// Settings says which of the engine's settings are used.
	Settings string

	loopRecords func(turns int) int // Durable records of a loop.
	fanRecords  func(width int) int // Durable records of a fan-out.
}

// All returns the peers in the order they are reported.
func All() []Peer {
	return []Peer{
		{
			Name: "langgraph", Title: "LangGraph.js",
			Packages: []string{"@langchain/langgraph", "@langchain/langgraph-checkpoint-postgres"},
			Settings: `PostgreSQL checkpointer, durability "sync"`,
			// A checkpoint for the input, one for the first superstep, and one for each node.
			loopRecords: func(turns int) int { return 2*turns + 2 },
			fanRecords:  func(int) int { return 5 },
		},
		{
			Name: "dbos", Title: "DBOS", Packages: []string{"@dbos-inc/dbos-sdk"},
			Settings:    "PostgreSQL, a row for each step",
			loopRecords: func(turns int) int { return 2 * turns },
			fanRecords:  func(width int) int { return width + 2 },
		},
		{
			Name: "mastra", Title: "Mastra", Packages: []string{"@mastra/core", "@mastra/pg"},
			Settings: "workflow, snapshots in PostgreSQL",
			// Snapshots are overwritten: one of the loop, one of the workflow that is its turn.
			loopRecords: func(int) int { return 2 },
			fanRecords:  func(int) int { return 1 },
		},
		{
			Name: "restate", Title: "Restate", Packages: []string{"@restatedev/restate-server", "@restatedev/restate-sdk"},
			Settings:    "a server of its own, default settings",
			loopRecords: func(turns int) int { return 2 * turns },
			fanRecords:  func(width int) int { return width + 2 },
		},
	}
}

// Kinds of work.
const (
	Loop = "loop" // Agent loops: in each turn a model step and a tool step.
	Fan  = "fan"  // Fan-outs, one after the other: many slow calls, some at a time.
)

// Command asks for a round of work.
type Command struct {
	Work   string `json:"work"`             // [Loop] or [Fan].
	Count  int    `json:"count"`            // Loops or fan-outs.
	AtOnce int    `json:"at_once"`          // Loops at a time, or calls of a fan-out at a time.
	Turns  int    `json:"turns,omitempty"`  // Of a loop.
	Width  int    `json:"width,omitempty"`  // Calls of a fan-out.
	NapMS  int64  `json:"nap_ms,omitempty"` // How long a call of a fan-out takes.
}

// Result is a round of work that was done.
type Result struct {
	Took time.Duration   // The whole round.
	Each []time.Duration // Each loop or fan-out.
}

// reply is what a peer's process writes after a command.
type reply struct {
	Ready   bool      `json:"ready"`
	Error   string    `json:"error"`
	TookMS  float64   `json:"took_ms"`
	EachMS  []float64 `json:"each_ms"`
	Answers []int     `json:"answers"`
	Steps   steps     `json:"steps"`
	Records int       `json:"records"` // By how many the durable records grew.
}

// steps counts the steps that ran.
type steps struct {
	Model int `json:"model"`
	Tool  int `json:"tool"`
	Nap   int `json:"nap"`
}

// parseReply reads a line of a peer's process. An error that the peer reports is
// returned as one.
func parseReply(line []byte) (reply, error) {
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return reply{}, fmt.Errorf("reading the reply %q: %w", line, err)
	}
	if r.Error != "" {
		return reply{}, fmt.Errorf("the peer failed: %s", r.Error)
	}
	return r, nil
}

// check returns the result of a round, or an error if a step was left out, made
// twice, answered wrongly or left no durable record.
func (p Peer) check(c Command, r reply) (Result, error) {
	answer, want, records := c.Turns, steps{Model: c.Count * c.Turns, Tool: c.Count * c.Turns}, p.loopRecords(c.Turns)
	if c.Work == Fan {
		answer, want, records = c.Width*(c.Width+1)/2, steps{Nap: c.Count * c.Width}, p.fanRecords(c.Width)
	}
	if len(r.Answers) != c.Count || len(r.EachMS) != c.Count {
		return Result{}, fmt.Errorf("%d answers and %d times for %d pieces of work", len(r.Answers), len(r.EachMS), c.Count)
	}
	for _, got := range r.Answers {
		if got != answer {
			return Result{}, fmt.Errorf("the answer is %d instead of %d", got, answer)
		}
	}
	if r.Steps != want {
		return Result{}, fmt.Errorf("the steps that ran are %+v instead of %+v", r.Steps, want)
	}
	if r.Records != c.Count*records {
		return Result{}, fmt.Errorf("%d durable records instead of %d", r.Records, c.Count*records)
	}
	result := Result{Took: milliseconds(r.TookMS)}
	for _, took := range r.EachMS {
		result.Each = append(result.Each, milliseconds(took))
	}
	return result, nil
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

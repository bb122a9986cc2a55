package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/registry"
)

// ToolUsage is a page of what uses a tool.
type ToolUsage struct {
	Tool      string    `json:"tool" doc:"Slug" example:"searchOrders"`
	ToolID    string    `json:"tool_id"`
	Candidate string    `json:"candidate" doc:"The version that the users are judged by: that of the request, or draft" example:"draft"`
	Runs      []string  `json:"runs" doc:"Up to five runs that have not ended and pin the tool; on each page" example:"[\"01975c2e-7d1a-7c3e-9f00-0000000000c1\"]"`
	Items     []ToolUse `json:"items"`
	Next      string    `json:"next,omitempty" doc:"The cursor of the page after this one; absent on the last"`
}

// ToolUse is one user of a tool, and what becomes of it when the candidate is published.
type ToolUse struct {
	Kind       registry.UserKind `json:"kind" enum:"agent,tool,toolset,schedule,assignment,profile" doc:"tool is a composition or a graph; schedule is one of an agent that uses the tool"`
	ID         string            `json:"id"`
	Name       string            `json:"name" doc:"Slug or name; of an assignment, the agent's" example:"support"`
	Version    string            `json:"version,omitempty" doc:"Of the user: the version that was published last; absent for a draft and for what has no versions"`
	Published  bool              `json:"published" doc:"False for a draft"`
	Status     string            `json:"status,omitempty" example:"published"`
	Through    string            `json:"through,omitempty" doc:"The step, the agent or the profile by which it uses the tool" example:"lookUp"`
	Constraint string            `json:"constraint,omitempty" doc:"The versions that it asks for; absent for any" example:"^1.2"`
	Gets       string            `json:"gets,omitempty" doc:"The version that it gets now" example:"1.2.3"`
	WouldGet   string            `json:"would_get,omitempty" doc:"The version that it gets once the candidate is published" example:"1.3.0"`
	Verdict    registry.Verdict  `json:"verdict" enum:"stays,moves,breaks,none" doc:"moves gets the candidate, breaks too and it is not compatible; none has no version at all"`
	Reason     string            `json:"reason" doc:"The verdict in words" example:"asks for ^1.2: gets 1.3.0 instead of 1.2.3 on its next run"`
	Changes    []Change          `json:"changes,omitempty" doc:"Those that break callers"`
	Without    string            `json:"without" doc:"What becomes of it when the tool is disabled, archived or deleted" example:"its runs go on without the tool, with a warning"`
}

// FromToolUsage converts uses; the cursor is the caller's.
func FromToolUsage(u registry.Usage, next string) ToolUsage {
	out := ToolUsage{
		Tool: u.Tool.Slug, ToolID: u.Tool.ID, Candidate: u.Candidate, Runs: u.Runs, Next: next,
		Items: make([]ToolUse, len(u.Uses)),
	}
	if out.Runs == nil {
		out.Runs = []string{}
	}
	for i, use := range u.Uses {
		item := ToolUse{
			Kind: use.Kind, ID: use.ID, Name: use.Name, Version: use.Version, Published: use.Published, Status: use.Status,
			Through: use.Through, Constraint: use.Constraint, Gets: use.Now, WouldGet: use.Next, Verdict: use.Verdict,
			Reason: use.Reason, Without: use.Without,
		}
		for _, c := range use.Changes {
			item.Changes = append(item.Changes, Change{Path: c.Path, Bump: c.Bump.String(), Reason: c.Reason})
		}
		out.Items[i] = item
	}
	return out
}

// NewPublishGate is what has to pass before a version is published.
type NewPublishGate struct {
	Replay       int `json:"replay" minimum:"1" maximum:"50" doc:"How many of the last recorded calls are replayed" example:"20"`
	MaxDifferent int `json:"max_different,omitempty" minimum:"0" maximum:"50" doc:"How many of them may differ" example:"0"`
}

// PublishGate is what has to pass before a version is published.
type PublishGate struct {
	Tool         string `json:"tool,omitempty" doc:"Slug of the tool whose own it is; absent for that of the tenant" example:"searchOrders"`
	Replay       int    `json:"replay" example:"20"`
	MaxDifferent int    `json:"max_different" example:"0"`
	ChangedBy    string `json:"changed_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
}

// FromGate converts a gate.
func FromGate(g registry.Gate, slug string) PublishGate {
	out := PublishGate{Replay: g.Replay, MaxDifferent: g.MaxDifferent, ChangedBy: g.ChangedBy}
	if g.ToolID != "" {
		out.Tool = slug
	}
	return out
}

// NewReplay asks for recorded calls of a tool to be compared with a content of it.
type NewReplay struct {
	Calls   int    `json:"calls" minimum:"1" maximum:"50" doc:"How many of the last calls in production" example:"20"`
	Version string `json:"version,omitempty" maxLength:"100" doc:"A version that the tool has; the draft when absent" example:"1.3.0"`
}

// Replay is the comparison of recorded calls of a tool with a content of it.
type Replay struct {
	ID        string                  `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f4"`
	Tool      string                  `json:"tool" doc:"Slug" example:"searchOrders"`
	Version   string                  `json:"version" example:"1.3.0"`
	Digest    string                  `json:"digest"`
	Asked     int                     `json:"asked" doc:"How many calls were asked for; the record may have fewer" example:"20"`
	Ended     bool                    `json:"ended" doc:"False while live calls run: get it again"`
	Same      int                     `json:"same" example:"18"`
	Different int                     `json:"different" example:"1"`
	Skipped   int                     `json:"skipped" doc:"Calls that cannot be replayed, each with its reason" example:"1"`
	StartedBy string                  `json:"started_by" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	Calls     []registry.ReplayedCall `json:"calls" example:"[{\"invocation_id\":\"01975c2e-7d1a-7c3e-9f00-0000000000f0\",\"version\":\"1.2.0\",\"way\":\"live\",\"outcome\":\"different\",\"differences\":[\"/total is missing\"],\"was_ms\":12,\"is_ms\":10}]"`
}

// FromReplay converts a replay.
func FromReplay(r registry.Replay, slug string) (Replay, error) {
	out := Replay{
		ID: r.ID, Tool: slug, Version: r.Version, Digest: r.Digest, Asked: r.Asked, Ended: r.Ended, Same: r.Same,
		Different: r.Different, Skipped: r.Skipped, StartedBy: r.StartedBy, Calls: []registry.ReplayedCall{},
	}
	if len(r.Calls) == 0 {
		return out, nil
	}
	return out, json.Unmarshal(r.Calls, &out.Calls)
}

// NewCanary asks for a version to be given to a share of the runs.
type NewCanary struct {
	Version         string `json:"version,omitempty" maxLength:"100" doc:"A version that the tool has, and that is not published; the draft when absent" example:"1.3.0"`
	Share           int    `json:"share" minimum:"1" maximum:"99" doc:"Percent of the runs that get it" example:"10"`
	UntilCalls      int    `json:"until_calls" minimum:"1" maximum:"100000" doc:"How many of its calls decide that it has passed" example:"200"`
	MaxErrorPercent int    `json:"max_error_percent,omitempty" minimum:"0" maximum:"100" doc:"It is taken back when more of its calls fail" example:"5"`
	MinCalls        int    `json:"min_calls,omitempty" minimum:"0" maximum:"100000" doc:"How many of its calls have to end before it is taken back; a twentieth of until_calls, at least 5, when absent" example:"10"`
	Promote         bool   `json:"promote,omitempty" doc:"Give it to every run once it has passed"`
}

// Canary is a version of a tool that a share of the runs gets.
type Canary struct {
	ID              string               `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f5"`
	Tool            string               `json:"tool" doc:"Slug" example:"searchOrders"`
	Version         string               `json:"version" example:"1.3.0"`
	Digest          string               `json:"digest"`
	State           registry.CanaryState `json:"state" enum:"running,passed,promoted,returned,stopped" doc:"passed still runs; returned was taken back, since too many calls failed; stopped by a person"`
	Share           int                  `json:"share" example:"10"`
	UntilCalls      int                  `json:"until_calls" example:"200"`
	MaxErrorPercent int                  `json:"max_error_percent" example:"5"`
	MinCalls        int                  `json:"min_calls" example:"10"`
	Promote         bool                 `json:"promote"`
	Calls           int                  `json:"calls" doc:"That ended since it began" example:"57"`
	Failures        int                  `json:"failures" doc:"Of them: failed, of unknown outcome, or answered with an error" example:"1"`
	StableCalls     int                  `json:"stable_calls" doc:"Of the other versions, meanwhile" example:"503"`
	StableFailures  int                  `json:"stable_failures" example:"9"`
	Reason          string               `json:"reason,omitempty" doc:"Why it passed or ended" example:"7 of 57 calls failed, at most 5 % may; of the other versions 9 of 503 failed"`
	StartedBy       string               `json:"started_by" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	StartedAt       time.Time            `json:"started_at"`
	EndedBy         string               `json:"ended_by,omitempty" example:"platform"`
	EndedAt         *time.Time           `json:"ended_at,omitempty"`
	JudgedAt        time.Time            `json:"judged_at" doc:"When its calls were counted last"`
}

// FromCanary converts a canary.
func FromCanary(c registry.Canary) Canary {
	return Canary{
		ID: c.ID, Tool: c.Slug, Version: c.Version, Digest: c.Digest, State: c.State, Share: c.Plan.Share,
		UntilCalls: c.Plan.Until, MaxErrorPercent: c.Plan.MaxErrorPercent, MinCalls: c.Plan.MinCalls,
		Promote: c.Plan.Promote, Calls: c.Outcome.Calls, Failures: c.Outcome.Failures,
		StableCalls: c.Outcome.StableCalls, StableFailures: c.Outcome.StableFailures, Reason: c.Reason,
		StartedBy: c.StartedBy, StartedAt: c.StartedAt, EndedBy: c.EndedBy, EndedAt: c.EndedAt, JudgedAt: c.JudgedAt,
	}
}

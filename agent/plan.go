package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// Plan is a run's lockfile: the exact versions, by digest, that it uses until
// it ends. Content is pinned here; authority never is.
type Plan struct {
	AgentID      string   `json:"agent_id,omitempty"` // Empty for a run without an agent.
	Agent        string   `json:"agent,omitempty"`
	AgentVersion string   `json:"agent_version,omitempty"`
	AgentDigest  string   `json:"agent_digest,omitempty"`
	ToolMode     ToolMode `json:"tool_mode,omitempty"`
	Limits       Limits   `json:"limits"`
	// MaxConcurrency is the agent's, by concurrency group; see [Plan.LimitGroup].
	MaxConcurrency map[string]int `json:"max_concurrency,omitempty"`
	Tools          []Pin          `json:"tools"` // Sorted by Slug, so that prompts cache.

	// Spaces are the agent's; see [Definition.Spaces].
	Spaces []string `json:"spaces,omitempty"`

	Omitted []Omission `json:"omitted,omitempty"` // Tools of the agent that could not be used when the run began.
}

// WarningOmitted is the reason of an event tool.warning for a tool that was
// omitted from a run.
const WarningOmitted = "omitted"

// WarningUnusableSchema is the reason of an event tool.warning for a tool that a model was not
// offered in a turn, because of its input schema.
const WarningUnusableSchema = "unusable_schema"

// Omission is a tool that was omitted from a run.
type Omission struct {
	Tool   string    `json:"tool"` // The reference, as the agent has it.
	Kind   tool.Kind `json:"kind"` // Of the failure to resolve it.
	Reason string    `json:"reason"`
}

// Pin is one pinned tool version with the data that the scheduler needs.
type Pin struct {
	tool.VersionIdentity

	AskedAs   string         `json:"asked_as,omitempty"` // The alias or former name in the agent's reference.
	Execution tool.Execution `json:"execution"`
	Builtin   string         `json:"builtin_key,omitempty"`
	// Overrides are the revisions of the overrides whose description, defaults and limits the run uses.
	Overrides  tool.OverrideRevisions `json:"overrides,omitzero"`
	Deprecated bool                   `json:"deprecated,omitempty"` // At the time of pinning.
	Fast       bool                   `json:"fast_lane,omitempty"`  // First attempts take the fast lane.
	// InPlace says that a run makes first attempts within its own activity.
	InPlace bool `json:"in_place,omitempty"`
	// Stepwise says that a visible call of it, the only one of its turn, is made by an
	// activity that then asks the next question.
	Stepwise bool `json:"stepwise,omitempty"`
	// Confirms says that the tool itself may ask for an approval of a call.
	Confirms bool `json:"confirms,omitempty"`
	// Outside says that calls are answered by a browser or another program.
	Outside bool `json:"outside,omitempty"`
	// Shown says that calls are posted to the space that the run is in, and that it must be in one.
	// It is set for visible tools of agents that work in spaces.
	Shown bool `json:"shown,omitempty"`
	// Assigned says that the agent has the tool by an assignment, and not by its definition.
	Assigned bool `json:"assigned,omitempty"`
	// Taints says that a result taints the run that gets it: see [tool.Taint].
	Taints bool `json:"taints,omitempty"`
	// Secret says that calls use a credential.
	Secret bool `json:"secret,omitempty"`

	Agent *PinnedAgent `json:"agent,omitempty"` // Set where a call is a run of an agent.
	Graph *PinnedGraph `json:"graph,omitempty"` // Set where a call is a run of a graph, or of a composition.
}

// PinnedGraph is the form of a graph, with what its nodes use.
type PinnedGraph struct {
	Shape  flow.Shape     `json:"shape"`
	Tools  []StepPin      `json:"tools,omitempty"`
	Agents []PinnedTarget `json:"agents,omitempty"`
	// InPlace says that one activity takes as many steps as it can, instead of one each. Of a
	// composition the tool's own pin says so.
	InPlace bool `json:"in_place,omitempty"`
}

// Makes reports whether a step is a call that the activity which takes steps in place makes.
func (g *PinnedGraph) Makes(s flow.Step) bool {
	pin := g.Tool(s.Node)
	return s.Do == flow.PhaseCall && pin != nil && pin.InPlace
}

// PinnedTarget is the pinned agent that a node of a graph runs.
type PinnedTarget struct {
	PinnedAgent

	ID             string  `json:"id"` // The node's.
	TimeoutSeconds float64 `json:"timeout_s,omitempty"`
}

// Tool returns the pinned tool of a node; nil where it has none.
func (g *PinnedGraph) Tool(node string) *Pin {
	for i := range g.Tools {
		if g.Tools[i].ID == node {
			return &g.Tools[i].Pin
		}
	}
	return nil
}

// Agent returns the pinned agent of a node; nil where it has none.
func (g *PinnedGraph) Agent(node string) *PinnedTarget {
	for i := range g.Agents {
		if g.Agents[i].ID == node {
			return &g.Agents[i]
		}
	}
	return nil
}

// PinnedAgent is the pinned version of the agent that calls of a tool run.
type PinnedAgent struct {
	AgentID string `json:"agent_id"`
	Slug    string `json:"slug"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
	// Detached runs continue on their own: their call returns when they have
	// begun.
	Detached bool `json:"detached,omitempty"`
}

// String returns "slug@version".
func (p PinnedAgent) String() string { return p.Slug + "@" + p.Version }

// StepPin is the pinned tool of one node of a graph, or step of a composition.
type StepPin struct {
	ID  string `json:"id"`
	Pin Pin    `json:"pin"`
}

// Nested reports whether a call of the pin consists of other runs or calls: an
// attempt opens it, the workflow makes those, and a settlement closes it.
func (p *Pin) Nested() bool { return p.Agent != nil || p.Graph != nil }

// Sequence reports whether a call of the pin is a composition: it has no workflow of its own.
func (p *Pin) Sequence() bool { return p.Graph != nil && p.Graph.Shape.Sequence }

// Content returns the digest of everything that a call of the pin runs: the
// version's own, and for a nested call also what is pinned below it.
func (p *Pin) Content() string {
	if !p.Nested() {
		return p.Digest
	}
	h := sha256.New()
	_, _ = io.WriteString(h, p.Digest)
	if p.Agent != nil {
		_, _ = io.WriteString(h, " agent "+p.Agent.Digest)
	}
	if p.Graph != nil {
		for i := range p.Graph.Tools {
			_, _ = io.WriteString(h, " node "+p.Graph.Tools[i].Pin.Content())
		}
		for i := range p.Graph.Agents {
			_, _ = io.WriteString(h, " agent "+p.Graph.Agents[i].Digest)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Count returns the number of calls that a call of the pin makes, itself
// included, and how many of them are runs of agents.
func (p *Pin) Count() (calls, agents int) {
	calls = 1
	if p.Agent != nil {
		agents = 1
	}
	if p.Graph != nil {
		for i := range p.Graph.Tools {
			c, a := p.Graph.Tools[i].Pin.Count()
			calls, agents = calls+c, agents+a
		}
		agents += len(p.Graph.Agents)
	}
	return calls, agents
}

// Find returns the pin of the tool called slug.
func (p *Plan) Find(slug string) (Pin, bool) {
	for _, pin := range p.Tools {
		if pin.Slug == slug {
			return pin, true
		}
	}
	return Pin{}, false
}

// Overrides returns the revisions that adapt a version in the run, also for the nodes of graphs; zero where the
// plan does not have it.
func (p *Plan) Overrides(toolID, digest string) tool.OverrideRevisions {
	for i := range p.Tools {
		if pin := p.Tools[i].find(toolID, digest); pin != nil {
			return pin.Overrides
		}
	}
	return tool.OverrideRevisions{}
}

// find returns the pin of a version at or below a pin; nil for none.
func (p *Pin) find(toolID, digest string) *Pin {
	if p.ToolID == toolID && p.VersionIdentity.Digest == digest {
		return p
	}
	if p.Graph == nil {
		return nil
	}
	for i := range p.Graph.Tools {
		if found := p.Graph.Tools[i].Pin.find(toolID, digest); found != nil {
			return found
		}
	}
	return nil
}

// Digest returns the sha256, in hexadecimal, of the plan's canonical JSON.
func (p *Plan) Digest() (string, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	return tool.Digest(raw)
}

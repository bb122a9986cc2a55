package agent

import "github.com/toolcrib/toolcrib/tool"

// Parts are the dependencies of a tool's calls: the run of an agent, or steps
// that are calls of other tools and runs of agents. The zero value is a tool without
// dependencies.
type Parts struct {
	Agent  *Target
	Steps  []StepPart
	Agents []Target // Of the nodes of a graph.
	// Waits says that the steps may be tools that somebody else answers.
	Waits bool
}

// Target is the agent that calls of a tool run.
type Target struct {
	Ref      tool.Ref // A slug or an id, and a version constraint.
	Path     string   // Of the reference, in the tool's configuration.
	Skill    string   // Empty for none.
	Detached bool     // Calls do not wait for the run.
}

// StepPart is a step of a composition.
type StepPart struct {
	ID   string
	Tool tool.Ref
	Path string // Of the reference, in the tool's configuration.
}

// IsZero reports whether the tool has no dependencies.
func (p Parts) IsZero() bool { return p.Agent == nil && len(p.Steps) == 0 && len(p.Agents) == 0 }

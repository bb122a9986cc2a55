package policy

import "github.com/toolcrib/toolcrib/tool"

// Test is what a decision about a test of a tool rests on besides: what the
// tool is, and what the tester asked for.
type Test struct {
	Traits      tool.Traits // Of the tool's implementation type.
	Builtin     string      // Built-in key of an internal tool.
	Execution   tool.Execution
	RunsAgent   bool // A call is a run of an agent, whose own calls are no tests.
	AllowWrites bool // The tester accepts that the test may change something.
}

// RuleTest is the rule that tests change nothing unless asked to. It applies to
// tests only.
const RuleTest Rule = "test"

// test denies a test of a tool that might change something, unless the test
// allows writes. The guard holds tools that may send requests to their egress
// class; tools that the guard does not observe must be pure, as built-ins must. A
// composition does nothing by itself: each of its steps is decided as a test of
// its own tool.
func (d *Decision) test(t *Test, class tool.Egress) {
	const ask = "; a test may only do so with allow_writes"
	switch {
	case t == nil || t.AllowWrites:
	case class == tool.EgressWrite:
		d.add(RuleTest, Deny, "the tool writes outside the platform (egress class write)"+ask)
	case t.RunsAgent: // Whatever the tool says of itself: its agent's tools are not held to it.
		d.add(RuleTest, Deny, "the tool runs an agent, which may change something"+ask)
	case t.Execution.Pure || t.Traits.Guarded && t.Builtin == "":
	default:
		d.add(RuleTest, Deny, "the tool is not declared pure, and may change something"+ask)
	}
}

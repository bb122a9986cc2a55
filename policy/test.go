package policy

import "github.com/toolcrib/toolcrib/tool"

// Test is the additional input for a test of a tool: its type, and the tester's options.
type Test struct {
	Traits      tool.Traits // Of the tool's implementation type.
	Builtin     string      // Built-in key of an internal tool.
	Execution   tool.Execution
	RunsAgent   bool // A call is a run of an agent, whose own calls are not tests.
	AllowWrites bool // The tester accepts side effects.
}

// RuleTest is the rule that tests have no side effects unless allowed. It applies to tests only.
const RuleTest Rule = "test"

// test denies a test of a tool that may have side effects, unless the test allows writes. The egress
// guard enforces the class of tools that send requests; tools that the guard does not observe must be
// pure, as must built-ins. A composition has no effects by itself: each of its steps is decided as a
// test of its own tool.
func (d *Decision) test(t *Test, class tool.Egress) {
	const ask = "; a test may only do so with allow_writes"
	switch {
	case t == nil || t.AllowWrites:
	case class == tool.EgressWrite:
		d.add(RuleTest, Deny, "the tool writes outside the platform (egress class write)"+ask)
	case t.RunsAgent: // Whatever its class: it does not apply to its agent's tools.
		d.add(RuleTest, Deny, "the tool runs an agent, which may have side effects"+ask)
	case t.Execution.Pure || t.Traits.Guarded && t.Builtin == "":
	default:
		d.add(RuleTest, Deny, "the tool is not declared pure, and may have side effects"+ask)
	}
}

package executors

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Type describes one implementation type: how its calls run, and what its tools
// need. Everything that lists, checks, schedules or runs tools by
// implementation type derives from a list of these. Each type's package returns
// its own, and hosts may add theirs to package worker's list.
//
// A nil function checks or declares nothing. The checks fail with a
// [*tool.Error]: [tool.Invalid], or [tool.Conflict] where the workers cannot run
// the tool for now, with a Path within the configuration. All are safe for
// concurrent use.
type Type struct {
	tool.Traits

	// Executor runs the calls where RunBy is [tool.RunByWorker]. It is nil in a
	// process that only validates definitions.
	Executor tool.Executor
	// Unavailable is the reason why tools of the type cannot be published; empty
	// where they can be.
	Unavailable string

	// CheckConfig checks a configuration before it is stored, against the input
	// schema of its tool where it refers to arguments.
	CheckConfig func(config, inputSchema json.RawMessage) error
	// CheckDefinition checks the rest of a definition before it is stored: what is of no use
	// to tools of the type. Its errors name the place in the definition.
	CheckDefinition func(d *tool.Definition) error
	// CheckWorkers checks before publishing that the workers have registered
	// what a configuration names, such as a function.
	CheckWorkers func(config json.RawMessage) error
	// Compile checks before publishing that the program in a configuration
	// compiles. Without it, a program that does not compile fails when the tool
	// is called. A kind other than Invalid means that the check could not run.
	Compile func(ctx context.Context, tenant tool.TenantID, config json.RawMessage) error
	// Needs returns the least egress class that a configuration's calls need, and
	// the HTTP method they send, if any. A tool of a lesser class cannot be
	// published: every call would be refused as drift.
	Needs func(config json.RawMessage) (class tool.Egress, method string)
	// DeclaresReads reports whether a configuration declares its requests
	// read-only, although their method can write.
	DeclaresReads func(config json.RawMessage) bool
	// Advise returns warnings for the author of a tool: what is allowed but not
	// advisable.
	Advise func(config, inputSchema json.RawMessage) []string
	// InputSchema returns the input schema of a tool that has none; nil for none.
	InputSchema func(config json.RawMessage) json.RawMessage
	// Target returns what the approval of a call is bound to beside its arguments. Nil where the
	// configuration holds all of it: see [wait.TargetOf].
	Target func(ctx context.Context, aim wait.Aim) (wait.Target, error)
	// Aims returns those of the arguments that say where a call goes, for Target. Nil where
	// none do.
	Aims func(builtin string, config, arguments json.RawMessage) json.RawMessage
	// Untrusted reports whether results of calls come from sources that others write, so that
	// they taint the run: see [tool.Taint]. Builtin is the tool's built-in key. Nil where none
	// do. The tool's own [tool.Execution].Trust comes before it.
	Untrusted func(builtin string, config json.RawMessage) bool
	// Vouched reports whether an administrator of the tenant said that the source of results which Untrusted names is to
	// be trusted all the same. Nil where none can.
	Vouched func(ctx context.Context, aim wait.Aim) (bool, error)
	// Secret reports whether calls use a credential. Nil where they use those that the configuration
	// names.
	Secret func(ctx context.Context, aim wait.Aim) (bool, error)
	// CheckArguments checks the arguments of a call that is answered from outside, before it
	// is offered: what the input schema cannot say.
	CheckArguments func(arguments json.RawMessage) error
	// Parts returns the nested runs or calls of a call.
	Parts func(config, inputSchema json.RawMessage) (agent.Parts, error)
}

// typeName matches valid names of implementation types, which are part of an
// activity's name and stored with definitions.
var typeName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// Types is a set of implementation types, in display order.
type Types []Type

// Find returns the description of a type.
func (t Types) Find(i tool.Implementation) (Type, bool) {
	at := slices.IndexFunc(t, func(x Type) bool { return x.Implementation == i })
	if at < 0 {
		return Type{Traits: tool.Traits{Implementation: i}}, false
	}
	return t[at], true
}

// Traits returns the traits of a type; for an unknown type, the zero value.
func (t Types) Traits(i tool.Implementation) tool.Traits {
	found, _ := t.Find(i)
	return found.Traits
}

// All returns the traits of every type.
func (t Types) All() []tool.Traits {
	all := make([]tool.Traits, len(t))
	for i := range t {
		all[i] = t[i].Traits
	}
	return all
}

// Names returns the names of the types.
func (t Types) Names() []tool.Implementation {
	names := make([]tool.Implementation, len(t))
	for i := range t {
		names[i] = t[i].Implementation
	}
	return names
}

// String returns the names of the types, as a list.
func (t Types) String() string {
	names := make([]string, len(t))
	for i := range t {
		names[i] = string(t[i].Implementation)
	}
	return strings.Join(names, ", ")
}

// Of returns the type of a definition; the zero Type where it is unknown.
func (t Types) Of(d *tool.Definition) Type {
	found, _ := t.Find(d.ImplementationType())
	return found
}

// PartsOf returns the nested runs or calls of a tool's calls. A tool without an
// input schema gets its type's.
func (t Types) PartsOf(d *tool.Definition) (agent.Parts, error) {
	of := t.Of(d)
	if len(d.InputSchema) == 0 && of.InputSchema != nil {
		d.InputSchema = of.InputSchema(d.Config)
	}
	if of.Parts == nil {
		return agent.Parts{}, nil
	}
	return of.Parts(d.Config, d.InputSchema)
}

// Target returns what the approval of a call is bound to beside its arguments.
func (t Types) Target(ctx context.Context, aim wait.Aim) (wait.Target, error) {
	if of, _ := t.Find(aim.Implementation); of.Target != nil {
		return of.Target(ctx, aim)
	}
	return wait.TargetOf(aim.Content, aim.Config), nil
}

// Aims returns those of the arguments that say where a call goes; nil where none do.
func (t Types) Aims(i tool.Implementation, builtin string, config, arguments json.RawMessage) json.RawMessage {
	if of, _ := t.Find(i); of.Aims != nil {
		return of.Aims(builtin, config, arguments)
	}
	return nil
}

// Taints reports whether the results of a tool's calls taint the runs that get them. What cannot be found out does.
func (t Types) Taints(ctx context.Context, aim wait.Aim, trust tool.Trust) bool {
	if trust != "" {
		return trust != tool.Trusted
	}
	of, known := t.Find(aim.Implementation)
	if !known {
		return true
	}
	if of.Untrusted == nil || !of.Untrusted(aim.Builtin, aim.Config) {
		return false
	}
	if of.Vouched == nil {
		return true
	}
	vouched, err := of.Vouched(ctx, aim)
	return !vouched || err != nil
}

// Secret reports whether the calls of a version use a credential. What cannot be found out counts as one.
func (t Types) Secret(ctx context.Context, aim wait.Aim) bool {
	if len(wait.Credentials(aim.Config)) > 0 {
		return true
	}
	of, _ := t.Find(aim.Implementation)
	if of.Secret == nil {
		return false
	}
	bears, err := of.Secret(ctx, aim)
	return bears || err != nil
}

// CheckArguments checks the arguments of a call that is answered from outside. It fails with
// tool.Invalid and a path within the arguments.
func (t Types) CheckArguments(i tool.Implementation, arguments json.RawMessage) error {
	if of, _ := t.Find(i); of.CheckArguments != nil {
		return of.CheckArguments(arguments)
	}
	return nil
}

// With returns the set with other types added. A type of the same name is
// replaced.
func (t Types) With(others ...Type) Types {
	all := slices.Clone(t)
	for _, other := range others {
		if at := slices.IndexFunc(all, func(x Type) bool { return x.Implementation == other.Implementation }); at >= 0 {
			all[at] = other
			continue
		}
		all = append(all, other)
	}
	return all
}

// Check returns an error for a type without a usable name.
func (t Types) Check() error {
	for _, x := range t {
		if !typeName.MatchString(string(x.Implementation)) {
			return fmt.Errorf("implementation type %q: expected lowercase words joined by underscores", x.Implementation)
		}
	}
	return nil
}

// Handle registers the executors of the types that have one with a mux.
func (t Types) Handle(m *Mux) {
	for _, x := range t {
		if x.Executor != nil {
			m.Handle(x.Implementation, x.Executor)
		}
	}
}

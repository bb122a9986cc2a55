package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/tool"
)

// ConfigChecker is implemented by executors that check the configuration of
// their tools before publishing.
type ConfigChecker interface {
	// CheckConfig checks an implementation_config, its "executor" included. It
	// fails with a [*tool.Error] of kind [tool.Invalid] whose Path is the JSON
	// Pointer of the fault. Any other error counts as Invalid.
	CheckConfig(config json.RawMessage) error
}

// InputDeclarer is implemented by executors that declare their arguments.
type InputDeclarer interface {
	// InputSchema returns the JSON Schema of the arguments for a configuration;
	// nil for none. A schema in the tool's definition takes precedence.
	InputSchema(config json.RawMessage) json.RawMessage
}

// Mux dispatches each call to the executor that its tool's configuration names.
// It is safe for concurrent use.
type Mux struct {
	executors map[string]tool.Executor
}

// New returns a mux of executors by name. It fails where a name is not a valid
// slug, or an executor is nil.
func New(executors map[string]tool.Executor) (*Mux, error) {
	for name, e := range executors {
		if !tool.ValidSlug(name) || e == nil {
			return nil, fmt.Errorf("custom: executor %q: want a slug as its name, and an executor that is not nil", name)
		}
	}
	return &Mux{executors: maps.Clone(executors)}, nil
}

// Names returns the names of the registered executors, sorted.
func (m *Mux) Names() []string { return slices.Sorted(maps.Keys(m.executors)) }

// Execute implements [tool.Executor]. A call whose tool names no executor, or
// one that is not registered, fails with [tool.Invalid].
func (m *Mux) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	name, err := nameOf(call.Version.Snapshot.Config)
	if err != nil {
		f := tool.AsError(err)
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "custom.Execute", Err: err,
			Msg: "the tool's configuration is malformed at implementation_config" + f.Path + ": " + f.Msg,
		}
	}
	e, ok := m.executors[name]
	if !ok {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "custom.Execute", Path: "/implementation_config/executor", Msg: m.unknown(name),
		}
	}
	return e.Execute(ctx, call)
}

// CheckConfig checks the form of a custom tool's configuration. It fails with
// [tool.Invalid] and the JSON Pointer of the fault. [Mux.Check] also checks that
// the executor is registered.
func CheckConfig(raw json.RawMessage) error {
	_, err := nameOf(raw)
	return err
}

// Check checks that a custom tool can run here. It fails with [tool.Conflict]
// where its executor is not registered, and with [tool.Invalid] where the
// executor refuses the configuration.
func (m *Mux) Check(config json.RawMessage) error {
	name, err := nameOf(config)
	if err != nil {
		return err
	}
	e, ok := m.executors[name]
	if !ok {
		return &tool.Error{Kind: tool.Conflict, Op: "custom.Check", Path: "/executor", Msg: m.unknown(name)}
	}
	checker, ok := e.(ConfigChecker)
	if !ok {
		return nil
	}
	if err := checker.CheckConfig(config); err != nil {
		return configFault(err)
	}
	return nil
}

// InputSchema returns the arguments that the executor of a configuration
// declares; nil where it declares none or is not registered.
func (m *Mux) InputSchema(config json.RawMessage) json.RawMessage {
	name, err := nameOf(config)
	if err != nil {
		return nil
	}
	declarer, ok := m.executors[name].(InputDeclarer)
	if !ok {
		return nil
	}
	return declarer.InputSchema(config)
}

// configFault turns an executor's error about a configuration into a fault of the
// configuration.
func configFault(err error) error {
	out := &tool.Error{Kind: tool.Invalid, Op: "custom.Check", Msg: err.Error(), Err: err}
	if e, ok := err.(*tool.Error); ok { //nolint:errorlint // A wrapped one adds text.
		out.Msg, out.Path, out.Err = e.Msg, e.Path, e.Err
	}
	return out
}

// unknown returns the message for an executor that is not registered.
func (m *Mux) unknown(name string) string {
	known := m.Names()
	msg := fmt.Sprintf("no worker here has an executor %q", name)
	switch meant := nearest.Name(name, known); {
	case meant != "":
		return msg + fmt.Sprintf(": did you mean %q?", meant)
	case len(known) == 0:
		return msg + ": none are registered"
	default:
		return msg + ": registered: " + strings.Join(known, ", ")
	}
}

// nameOf returns the name of the executor that a configuration names.
func nameOf(config json.RawMessage) (string, error) {
	const want = "want the name of the executor that runs the tool, as the worker's host registered it"
	var members map[string]json.RawMessage
	if len(config) > 0 {
		if err := json.Unmarshal(config, &members); err != nil {
			return "", fault("", "expected an object")
		}
	}
	var impl, name string
	if raw, ok := members["type"]; ok && (json.Unmarshal(raw, &impl) != nil || impl != string(tool.Custom)) {
		return "", fault("/type", fmt.Sprintf("%.40q is not custom", impl))
	}
	raw, ok := members["executor"]
	switch {
	case !ok:
		return "", fault("/executor", want)
	case json.Unmarshal(raw, &name) != nil || !tool.ValidSlug(name):
		return "", fault("/executor", fmt.Sprintf("%.80q is not a valid name: %s", name, want))
	}
	return name, nil
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "custom.CheckConfig", Path: path, Msg: msg}
}

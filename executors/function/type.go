package function

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes function tools that the functions of a host run. The executor is
// nil in a process that only validates definitions. Known lists the functions of
// the workers; where it is nil they are unknown, and tools may name any.
func Type(executor *Executor, known []string) executors.Type {
	t := executors.Type{
		Traits:      tool.Traits{Implementation: tool.Function, Quick: true},
		CheckConfig: func(config, _ json.RawMessage) error { return CheckConfig(config) },
	}
	if executor != nil {
		t.Executor = executor
	}
	if known != nil {
		t.CheckWorkers = func(config json.RawMessage) error { return checkKnown(config, known) }
	}
	return t
}

// checkKnown refuses a configuration whose function no worker has registered
// (checklist S3-42).
func checkKnown(config json.RawMessage, known []string) error {
	name, err := nameIn(config)
	if err != nil {
		return err
	}
	if slices.Contains(known, name) {
		return nil
	}
	hint := ""
	switch meant := nearest.Name(name, known); {
	case meant != "":
		hint = fmt.Sprintf(": did you mean %q?", meant)
	case len(known) == 0:
		hint = ": none are registered"
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: "function.Type", Path: "/function_name",
		Msg: fmt.Sprintf("no worker here has a function %.64q%s", name, hint),
	}
}

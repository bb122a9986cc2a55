package quality

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// selectors are names of arguments that say which of several things a tool does.
var selectors = []string{"action", "command", "mode", "op", "operation", "verb"}

// making are verbs of changes that need no target.
var making = []string{"add", "create", "run", "send", "set", "start", "write"}

// width finds a tool that both reads and changes. Each half has callers, a policy and a permission
// of its own once it is split. A pure tool changes nothing, whatever its operations are called.
func width(s *Subject) []Finding {
	if s.Execution.Pure {
		return nil
	}
	for _, a := range arguments(s.InputSchema) {
		if !slices.Contains(selectors, strings.ToLower(a.name)) {
			continue
		}
		var reads, changesIt []string
		for _, value := range a.enum {
			switch verb, _ := words(value); {
			case slices.Contains(reading, verb):
				reads = append(reads, value)
			case slices.Contains(changing, verb), slices.Contains(making, verb):
				changesIt = append(changesIt, value)
			}
		}
		if len(reads) > 0 && len(changesIt) > 0 {
			return []Finding{{WideTool, a.path, fmt.Sprintf("it reads (%s) and changes (%s): split it, and give each part a "+
				"required_permission of its own", strings.Join(reads, ", "), strings.Join(changesIt, ", "))}}
		}
	}
	return nil
}

// permission finds a change that any caller may make. Internal tools are for agents and workflows that name them.
func permission(s *Subject) []Finding {
	if !changes(s) || s.RequiredPermission != "" || s.Interaction.Visibility == tool.VisibilityInternal {
		return nil
	}
	return []Finding{{
		PermissionMissing, "/required_permission",
		"it changes something, and any caller may call it: name a permission that calls need",
	}}
}

// hints compares annotations, in MCP's sense, with what the platform goes by. Annotations are hints for
// clients; policy and execution are what counts.
func hints(s *Subject) []Finding {
	var said struct {
		ReadOnly   *bool `json:"readOnlyHint"`    //nolint:tagliatelle // MCP's.
		Idempotent *bool `json:"idempotentHint"`  //nolint:tagliatelle // MCP's.
		OpenWorld  *bool `json:"openWorldHint"`   //nolint:tagliatelle // MCP's.
		Destroys   *bool `json:"destructiveHint"` //nolint:tagliatelle // MCP's.
	}
	if len(s.Interaction.Annotations) == 0 || json.Unmarshal(s.Interaction.Annotations, &said) != nil {
		return nil
	}
	is := func(hint *bool, value bool) bool { return hint != nil && *hint == value }
	const at = "/interaction/annotations"
	switch {
	case is(said.ReadOnly, true) && s.EgressClass == tool.EgressWrite:
		return []Finding{{HintContradiction, at, "readOnlyHint is true, and the egress class is write"}}
	case is(said.Destroys, true) && s.Execution.Pure:
		return []Finding{{HintContradiction, at, "destructiveHint is true, and the tool is pure"}}
	case is(said.Idempotent, false) && s.Execution.Repeatable():
		return []Finding{{HintContradiction, at, "idempotentHint is false, and the tool is repeated after failures"}}
	case is(said.OpenWorld, false) && s.EgressClass != "" && s.EgressClass != tool.EgressNone:
		return []Finding{{HintContradiction, at, "openWorldHint is false, and the egress class is " + string(s.EgressClass)}}
	}
	return nil
}

package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Check fills in defaults, and fails with tool.Invalid for what no draft may
// hold. The warnings list what is valid but discouraged.
func (s *AgentSpec) Check() (warnings []string, err error) {
	if !tool.ValidSlug(s.Slug) {
		return nil, refusal.New(tool.Invalid, "/slug",
			"slug %.80q: expected a letter, then letters, digits, _ or -, at most 64",
			s.Slug)
	}
	if s.Name == "" {
		s.Name = s.Slug
	}
	if s.Version != "" {
		if err := release.CheckNumber(s.Version); err != nil {
			return nil, err
		}
	}
	switch s.ToolMode {
	case "", agent.Sequential, agent.ParallelSafe:
	default:
		return nil, refusal.New(tool.Invalid, "/tool_mode", "tool mode %.40q: expected sequential or parallel_safe",
			s.ToolMode)
	}
	for _, group := range slices.Sorted(maps.Keys(s.MaxConcurrency)) {
		if n := s.MaxConcurrency[group]; group == "" || len(group) > maxGroupName || n < 1 || n > maxConcurrency {
			return nil, refusal.New(tool.Invalid, "/max_concurrency/"+group,
				"max_concurrency of group %.80q is %d: expected 1 to %d for a concurrency group of the agent's tools, such as %q",
				group, n, maxConcurrency, tool.DefaultConcurrencyGroup)
		}
	}
	if p := s.OnUnavailableTool; p != "" && !slices.Contains(agent.UnavailablePolicies(), p) {
		return nil, refusal.New(tool.Invalid, "/on_unavailable_tool", "on_unavailable_tool %.40q: expected omit or refuse", p)
	}
	if err := s.checkTextToolCalls(); err != nil {
		return nil, err
	}
	if s.Model != "" && !validModel(s.Model) {
		return nil, refusal.New(tool.Invalid, "/model", `model %.80q: expected "provider/name"`, s.Model)
	}
	if err := s.checkFallbacks(); err != nil {
		return nil, err
	}
	for field, value := range map[string]int{
		"max_turns": s.Limits.MaxTurns, "max_calls": s.Limits.MaxCalls,
		"max_calls_per_turn": s.Limits.MaxCallsPerTurn, "timeout_s": s.Limits.TimeoutSeconds,
	} {
		if value < 0 {
			return nil, refusal.New(tool.Invalid, "/limits/"+field, "%s is %d: expected 0 for the default, or more", field,
				value)
		}
	}
	if err := CheckRedacted("/model_options", s.ModelOptions); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(s.Tools))
	for i, ref := range s.Tools {
		if name := ref.Name(); name == "" || seen[name] {
			return nil, refusal.New(tool.Invalid, fmt.Sprintf("/tools/%d", i), "tool %q is missing a name or listed twice", ref)
		}
		seen[ref.Name()] = true
	}
	if err := checkSkills(s.Skills); err != nil {
		return nil, err
	}
	if err := s.checkSpaces(); err != nil {
		return nil, err
	}
	if err := s.checkToolGroups(); err != nil {
		return nil, err
	}
	if s.Instructions == "" {
		return []string{"no instructions: the model gets nothing but the conversation"}, nil
	}
	return nil, nil
}

// Bounds of the groups of tools that a definition may name.
const (
	maxToolGroups    = 20
	maxToolGroupName = 64
)

// checkToolGroups fails for groups that cannot be categories of tools, and for one that is named twice.
func (s *AgentSpec) checkToolGroups() error {
	if len(s.ToolGroups) > maxToolGroups {
		return refusal.New(tool.Invalid, "/tool_groups", "%d groups: expected at most %d", len(s.ToolGroups), maxToolGroups)
	}
	for i, name := range s.ToolGroups {
		if name == "" || len(name) > maxToolGroupName || slices.Index(s.ToolGroups, name) < i {
			return refusal.New(tool.Invalid, fmt.Sprintf("/tool_groups/%d", i),
				"group %.80q: expected the category of global tools, once, or %q for the tenant's own tools alone", name,
				agent.UserFacing)
		}
	}
	return nil
}

// maxSpaces is how many spaces a definition may name.
const maxSpaces = 50

// checkSpaces fails for spaces that are no slugs, and for the built-ins of spaces among the tools:
// an agent that works in spaces has them, and no other does.
func (s *AgentSpec) checkSpaces() error {
	if len(s.Spaces) > maxSpaces {
		return refusal.New(tool.Invalid, "/spaces", "%d spaces: expected at most %d, or [%q] for all", len(s.Spaces),
			maxSpaces, agent.AllSpaces)
	}
	for i, name := range s.Spaces {
		if name != agent.AllSpaces && !tool.ValidSlug(name) || slices.Index(s.Spaces, name) < i {
			return refusal.New(tool.Invalid, fmt.Sprintf("/spaces/%d", i),
				"space %.80q: expected the slug of a space, once, or [%q] for every space that the agent is a member of", name,
				agent.AllSpaces)
		}
	}
	for i, ref := range s.Tools {
		if s.InSpaces() && slices.Contains(agent.SpaceTools(), ref.Slug) {
			return refusal.New(tool.Invalid, fmt.Sprintf("/tools/%d", i),
				"%s is given to every agent that has spaces: remove it from tools", ref.Slug)
		}
	}
	return nil
}

// validModel reports whether a text is "provider/name".
func validModel(text string) bool {
	provider, name, ok := strings.Cut(text, "/")
	return ok && provider != "" && name != ""
}

// checkFallbacks fails for fallback models that are none, or that would be asked twice.
func (s *AgentSpec) checkFallbacks() error {
	if n := len(s.FallbackModels); n > agent.MaxFallbackModels {
		return refusal.New(tool.Invalid, "/fallback_models", "%d fallback models: at most %d", n, agent.MaxFallbackModels)
	}
	seen := map[string]bool{s.Model: true}
	for i, m := range s.FallbackModels {
		path := fmt.Sprintf("/fallback_models/%d", i)
		if !validModel(m.Model) {
			return refusal.New(tool.Invalid, path+"/model", `fallback model %.80q: expected "provider/name"`, m.Model)
		}
		if seen[m.Model] {
			return refusal.New(tool.Invalid, path+"/model",
				"fallback model %.80q is asked already: it is the agent's model, or listed twice", m.Model)
		}
		seen[m.Model] = true
		var options map[string]json.RawMessage
		if len(m.ModelOptions) > 0 && json.Unmarshal(m.ModelOptions, &options) != nil {
			return refusal.New(tool.Invalid, path+"/model_options", "expected an object of model options")
		}
		if s.TextToolCalls == agent.TextToolCallsOnly && len(options["tool_choice"]) > 0 {
			return refusal.New(tool.Invalid, path+"/model_options/tool_choice",
				"tool_choice applies to native tools, and text_tool_calls: only offers none")
		}
		if err := CheckRedacted(path+"/model_options", m.ModelOptions); err != nil {
			return err
		}
	}
	return nil
}

// checkTextToolCalls fails for an unknown treatment of calls in texts, and for an option of the
// model that needs native tools where there are none.
func (s *AgentSpec) checkTextToolCalls() error {
	if c := s.TextToolCalls; c != "" && !slices.Contains(agent.TextToolCallsList(), c) {
		return refusal.New(tool.Invalid, "/text_tool_calls", "text_tool_calls %.40q: expected fallback or only", c)
	}
	var options struct {
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if s.TextToolCalls == agent.TextToolCallsOnly && json.Unmarshal(s.ModelOptions, &options) == nil &&
		len(options.ToolChoice) > 0 {
		return refusal.New(tool.Invalid, "/model_options/tool_choice",
			"tool_choice applies to native tools, and text_tool_calls: only offers none")
	}
	return nil
}

// CheckSchemas fails with tool.Invalid for a malformed output schema.
func (s *AgentSpec) CheckSchemas(schemas *schema.Cache) error {
	if len(s.OutputSchema) == 0 {
		return nil
	}
	_, err := schemas.Compile(s.OutputSchema)
	return refusal.Within("/output_schema", err)
}

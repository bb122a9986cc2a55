package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkTool fills in the defaults of a tool, and refuses what no draft may hold.
func (r *Registry) checkTool(s *definition.ToolSpec) (warnings []string, err error) {
	if err := s.CheckIdentity(); err != nil {
		return nil, err
	}
	if r.opts.Builtins != nil {
		if warnings, err = r.opts.Builtins(&s.Definition, &s.Policy); err != nil {
			return nil, err //nolint:wrapcheck // It has the path of the fault.
		}
	}
	for _, check := range []func(*definition.ToolSpec) error{
		(*definition.ToolSpec).CheckContent, r.declareInput, r.checkParts, r.checkSchemas, r.checkConfig, r.checkEgressRules,
	} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return slices.Concat(warnings, s.Warnings(), r.egressWarnings(s), r.readsWarning(s),
		definition.ConcurrencyWarnings(&s.Definition)), nil
}

func (r *Registry) checkSchemas(s *definition.ToolSpec) error { return s.CheckSchemas(r.opts.Schemas) }

// checkConfig judges the configuration by its implementation type.
func (r *Registry) checkConfig(s *definition.ToolSpec) error {
	var object map[string]json.RawMessage
	if len(s.Config) > 0 && (json.Unmarshal(s.Config, &object) != nil || object == nil) {
		return refusal.New(tool.Invalid, "/implementation_config", "expected a JSON object")
	}
	if err := definition.CheckRedacted("/implementation_config", s.Config); err != nil {
		return err
	}
	return refusal.First(r.checkConfigBy(s.Implementation, s.ArtifactID != "", s.Config), r.checkArguments(&s.Definition))
}

// checkConfigBy judges a configuration by the rules of its implementation type,
// or by those for uploaded programs.
func (r *Registry) checkConfigBy(impl tool.Implementation, uploaded bool, config json.RawMessage) error {
	check := r.opts.Checks[impl]
	if uploaded {
		check = r.opts.Artifacts.CheckConfig
	}
	if check == nil {
		return nil
	}
	if len(config) == 0 {
		config = json.RawMessage(`{}`) // So that the error names the field that is missing.
	}
	if err := check(config); err != nil {
		return refusal.Within("/implementation_config", err)
	}
	return nil
}

// checkArguments judges a configuration that speaks of the tool's arguments.
func (r *Registry) checkArguments(d *tool.Definition) error {
	check := r.opts.ArgumentChecks[d.ImplementationType()]
	if check == nil {
		return nil
	}
	if err := check(d.Config, d.InputSchema); err != nil {
		return refusal.Within("/implementation_config", err)
	}
	return nil
}

// checkRunnable refuses to publish what would not run as it says.
func (r *Registry) checkRunnable(d *tool.Definition, uploaded bool) error {
	impl := d.ImplementationType()
	switch {
	case !impl.Valid():
		return refusal.New(tool.Invalid, "/implementation_type", "unknown implementation type %.40q", impl)
	case impl == tool.HTTP && d.Interaction.Async:
		return refusal.New(tool.Invalid, "/interaction/is_async",
			"an http tool is answered by its URL at once, so it cannot also be asynchronous: drop is_async, or let an external "+
				"executor answer it (implementation type client)")
	case !r.opts.Runnable(impl):
		return refusal.New(tool.Conflict, "/implementation_type",
			"nothing here runs tools of type %s: the tool can be kept as a draft", impl)
	}
	if err := r.checkConfigBy(impl, uploaded || d.Artifact != nil, d.Config); err != nil {
		return err
	}
	if err := refusal.First(r.checkArguments(d), r.checkHosts(d)); err != nil {
		return err
	}
	for n, name := range d.Interaction.Middleware {
		if r.opts.Middleware != nil && !r.opts.Middleware(name) {
			return refusal.New(tool.Conflict, fmt.Sprintf("/interaction/middleware/%d", n),
				"no worker here has the middleware %q: the tool can be kept as a draft", name)
		}
	}
	return nil
}

// declareInput gives a custom tool without an input schema the one that its
// executor declares.
func (r *Registry) declareInput(s *definition.ToolSpec) error {
	if s.Implementation == tool.Custom && len(s.InputSchema) == 0 && r.opts.Customs != nil {
		s.InputSchema = r.opts.Customs.InputSchema(s.Config)
	}
	return nil
}

// checkHosts refuses to publish what the workers do not have: the executor of a
// custom tool, the function of a function tool, and the model provider of a prompt.
func (r *Registry) checkHosts(d *tool.Definition) error {
	switch d.ImplementationType() {
	case tool.Custom:
		if r.opts.Customs == nil {
			return nil
		}
		if err := r.opts.Customs.Check(d.Config); err != nil {
			e := *tool.AsError(refusal.Within("/implementation_config", err))
			if e.Kind == tool.Conflict {
				e.Msg += "; the tool can be kept as a draft"
			}
			return &e
		}
	case tool.Prompt:
		return r.checkModelProvider(d.Config)
	case tool.Function:
		return r.checkFunction(d)
	case tool.Internal, tool.HTTP, tool.RAGRetrieval, tool.AgentCall, tool.Artifact, tool.MCP, tool.Task, tool.Composition,
		tool.Client, tool.Provider:
	}
	return nil
}

// checkFunction refuses a tool that names a function no worker has (checklist
// S3-42).
func (r *Registry) checkFunction(d *tool.Definition) error {
	name, known := functionName(d), r.opts.Functions
	if known == nil || slices.Contains(known, name) {
		return nil
	}
	hint := ""
	switch meant := nearest.Name(name, known); {
	case meant != "":
		hint = fmt.Sprintf(": did you mean %q?", meant)
	case len(known) == 0:
		hint = ": their host has registered none"
	}
	return refusal.New(tool.Conflict, "/implementation_config/function_name",
		"no worker here has a function %.64q%s; the tool can be kept as a draft", name, hint)
}

// checkModelProvider refuses a prompt to a model that no worker can ask. Prompts
// for agents name none.
func (r *Registry) checkModelProvider(config json.RawMessage) error {
	var c struct {
		Model string `json:"model"`
	}
	if json.Unmarshal(config, &c) != nil || c.Model == "" || r.opts.ModelProviders == nil {
		return nil //nolint:nilerr // Another check says what is no JSON.
	}
	if provider, _, _ := strings.Cut(c.Model, "/"); !r.opts.ModelProviders(provider) {
		return refusal.New(tool.Conflict, "/implementation_config/model",
			"no worker here has a model provider %.64q (model %.80q): the tool can be kept as a draft", provider, c.Model)
	}
	return nil
}

// readsMember is the default of [Options.DeclaresReads].
var readsMember = map[tool.Implementation]func(json.RawMessage) bool{tool.HTTP: func(config json.RawMessage) bool {
	var c struct {
		Reads bool `json:"reads"`
	}
	return json.Unmarshal(config, &c) == nil && c.Reads
}}

// declaresReads reports whether a definition declares that its POST only reads.
func (r *Registry) declaresReads(d *tool.Definition) bool {
	declares := r.opts.DeclaresReads[d.ImplementationType()]
	return declares != nil && declares(d.Config)
}

// partsOf reads what the calls of a tool are made of.
func (r *Registry) partsOf(d *tool.Definition) (agent.Parts, error) {
	if r.opts.Parts == nil {
		return agent.Parts{}, nil
	}
	parts, err := r.opts.Parts(d)
	if err != nil {
		return agent.Parts{}, refusal.Within("/implementation_config", err)
	}
	return parts, nil
}

// checkCompiles refuses to publish a program that does not compile, or not within
// the tool's limits.
func (r *Registry) checkCompiles(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	d := &v.Snapshot.Definition
	switch compiles := r.opts.Compilers[d.ImplementationType()]; {
	case v.Published:
		return nil
	case d.Artifact != nil:
		return r.artifacts.CheckCompiles(ctx, t.Tenant, d)
	case compiles == nil || t.ArtifactID != "":
		return nil
	default:
		return refusal.Within("/implementation_config", compiles(ctx, t.Tenant, d.Config))
	}
}

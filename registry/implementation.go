package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkTool fills in the defaults of a tool, and fails with tool.Invalid for what no
// draft may hold.
func (r *Registry) checkTool(s *definition.ToolSpec) (warnings []string, err error) {
	if err := s.CheckIdentity(); err != nil {
		return nil, err
	}
	if r.opts.Builtins != nil {
		if warnings, err = r.opts.Builtins(&s.Definition, &s.Policy); err != nil {
			return nil, err
		}
	}
	for _, check := range []func(*definition.ToolSpec) error{
		r.checkContent, r.declareInput, r.checkParts, r.checkSchemas, r.checkConfig, r.checkEgressRules,
	} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return slices.Concat(warnings, s.Warnings(), r.egressWarnings(s), r.readsWarning(s),
		r.ConcurrencyWarnings(&s.Definition)), nil
}

func (r *Registry) checkContent(s *definition.ToolSpec) error { return s.CheckContent(r.opts.Types) }

func (r *Registry) checkSchemas(s *definition.ToolSpec) error { return s.CheckSchemas(r.opts.Schemas) }

// checkConfig checks the configuration of a tool.
func (r *Registry) checkConfig(s *definition.ToolSpec) error {
	var object map[string]json.RawMessage
	if len(s.Config) > 0 && (json.Unmarshal(s.Config, &object) != nil || object == nil) {
		return refusal.New(tool.Invalid, "/implementation_config", "expected an object")
	}
	if err := definition.CheckRedacted("/implementation_config", s.Config); err != nil {
		return err
	}
	return r.checkConfigBy(&s.Definition, s.ArtifactID != "")
}

// checkConfigBy judges a configuration by the rules of its implementation type,
// or by those for uploaded programs.
func (r *Registry) checkConfigBy(d *tool.Definition, uploaded bool) error {
	check := r.opts.Types.Of(d).CheckConfig
	if rules := r.opts.Artifacts.CheckConfig; uploaded && rules != nil {
		check = func(config, _ json.RawMessage) error { return rules(config) }
	}
	if check == nil {
		return nil
	}
	config := d.Config
	if len(config) == 0 {
		config = json.RawMessage(`{}`) // So that the error names the field that is missing.
	}
	if err := check(config, d.InputSchema); err != nil {
		return refusal.Within("/implementation_config", err)
	}
	return nil
}

// checkRunnable fails for a version whose calls could not run: no executor has its
// type, its configuration is invalid, or a host lacks what it names.
func (r *Registry) checkRunnable(d *tool.Definition, uploaded bool) error {
	of := r.opts.Types.Of(d)
	_, known := r.opts.Types.Find(of.Implementation)
	switch {
	case of.Implementation == "", !known && r.opts.Types != nil:
		return refusal.New(tool.Invalid, "/implementation_type", "unknown implementation type %.40q", of.Implementation)
	case of.Implementation == tool.HTTP && d.Interaction.Async:
		return refusal.New(tool.Invalid, "/interaction/is_async",
			"an http tool is answered by its URL at once, so it cannot also be asynchronous: drop is_async, or let an external "+
				"executor answer it (implementation type client)")
	case of.Unavailable != "":
		return refusal.New(tool.Conflict, "/implementation_type", "%s: the tool can be kept as a draft", of.Unavailable)
	}
	if err := refusal.First(r.checkConfigBy(d, uploaded || d.Artifact != nil), checkWorkers(of, d)); err != nil {
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

// declareInput gives a tool without an input schema the one that its
// implementation type has for it.
func (r *Registry) declareInput(s *definition.ToolSpec) error {
	if of := r.opts.Types.Of(&s.Definition); len(s.InputSchema) == 0 && of.InputSchema != nil {
		s.InputSchema = of.InputSchema(s.Config)
	}
	return nil
}

// checkWorkers refuses to publish a tool that names what the workers do not have.
func checkWorkers(of executors.Type, d *tool.Definition) error {
	if of.CheckWorkers == nil {
		return nil
	}
	err := of.CheckWorkers(d.Config)
	if err == nil {
		return nil
	}
	e := *tool.AsError(refusal.Within("/implementation_config", err))
	if e.Kind == tool.Conflict {
		e.Msg += "; the tool can be kept as a draft"
	}
	return &e
}

// declaresReads reports whether a definition declares that its POST only reads.
func (r *Registry) declaresReads(d *tool.Definition) bool {
	declares := r.opts.Types.Of(d).DeclaresReads
	return declares != nil && declares(d.Config)
}

// partsOf reads what the calls of a tool are made of.
func (r *Registry) partsOf(d *tool.Definition) (agent.Parts, error) {
	parts, err := r.opts.Types.PartsOf(d)
	if err != nil {
		return agent.Parts{}, refusal.Within("/implementation_config", err)
	}
	return parts, nil
}

// checkCompiles fails for a program that does not compile within the tool's limits.
func (r *Registry) checkCompiles(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	d := &v.Snapshot.Definition
	switch compiles := r.opts.Types.Of(d).Compile; {
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

// ConcurrencyWarnings warns of a definition whose calls are made one after
// another for no reason, see [definition.ConcurrencyWarnings].
func (r *Registry) ConcurrencyWarnings(d *tool.Definition) []string {
	return definition.ConcurrencyWarnings(d, r.opts.Types.Traits(d.ImplementationType()))
}

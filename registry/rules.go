package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of execution metadata.
const (
	maxTimeoutSeconds = 24 * 60 * 60
	maxConcurrency    = 1000
	maxAttempts       = 100
	maxMiddleware     = 16
	maxGroupName      = 64 // Bytes.
)

// checkSpec refuses what no draft may hold, and fills in defaults.
func (r *Registry) checkSpec(s *ToolSpec) (warnings []string, err error) {
	if !tool.ValidSlug(s.Slug) {
		return nil, refuse(tool.Invalid, "/slug", "slug %.80q: expected a letter, then letters, digits, _ or -, at most 64",
			s.Slug)
	}
	if s.Scope != "" && s.Scope != "tenant" {
		return nil, refuse(tool.Invalid, "/scope", "scope %.40q: expected tenant; global tools come with the platform",
			s.Scope)
	}
	if s.Name == "" {
		s.Name = s.Slug
	}
	if s.Version != "" {
		if _, err := parseVersion(s.Version); err != nil {
			return nil, err
		}
	}
	if s.ArtifactID != "" {
		s.Implementation = tool.Artifact // Whatever it says.
	}
	if r.opts.Builtins != nil {
		if warnings, err = r.opts.Builtins(&s.Definition, &s.Policy); err != nil {
			return nil, err //nolint:wrapcheck // It has the path of the fault.
		}
	}
	for _, check := range []func(*ToolSpec) error{
		checkPolicy, checkExecution, checkInteraction, checkImplementation, checkArtifact, checkProvider, r.declareInput,
		r.checkParts, checkRetrieval, r.checkSchemas, checkSections, r.checkConfig, r.checkEgressRules,
	} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return slices.Concat(warnings, slugWarnings(s.Slug), schemaWarnings(s), r.egressWarnings(s), r.readsWarning(s),
		ConcurrencyWarnings(&s.Definition)), nil
}

func checkPolicy(s *ToolSpec) error {
	if s.EgressClass == "" {
		s.EgressClass = tool.EgressNone
	}
	if s.PermissionPolicy == "" {
		s.PermissionPolicy = tool.Auto
	}
	switch {
	case !s.EgressClass.Valid():
		return refuse(tool.Invalid, "/egress_class", "egress class %.40q: expected none, read_only or write", s.EgressClass)
	case !s.PermissionPolicy.Valid():
		return refuse(tool.Invalid, "/permission_policy", "permission policy %.40q: expected auto or always_ask",
			s.PermissionPolicy)
	case s.EgressClass == tool.EgressWrite:
		s.RequiresApproval = true // As the database will have it.
	}
	return nil
}

func checkExecution(s *ToolSpec) error {
	x := s.Execution
	for _, f := range []struct {
		name  string
		value int
		most  int
	}{
		{"timeout_s", x.TimeoutSeconds, maxTimeoutSeconds},
		{"max_concurrency", x.MaxConcurrency, maxConcurrency},
		{"max_attempts", x.MaxAttempts, maxAttempts},
	} {
		if f.value < 0 || f.value > f.most {
			return refuse(tool.Invalid, "/execution/"+f.name, "%s is %d: expected 0 for the default, or up to %d", f.name,
				f.value, f.most)
		}
	}
	if len(x.ConcurrencyGroup) > maxGroupName {
		return refuse(tool.Invalid, "/execution/concurrency_group", "expected at most 64 characters")
	}
	return checkLane(s)
}

// checkLane refuses the fast lane to a tool that cannot have it. A definition
// that leaves the choice to us is never refused for it.
func checkLane(s *ToolSpec) error {
	x := s.Execution
	if !x.Lane.Valid() {
		return refuse(tool.Invalid, "/execution/lane", "lane %.40q: expected auto, visible or fast", x.Lane)
	}
	if _, obstacle := x.FastLane(s.ImplementationType()); x.Lane == tool.FastLane && obstacle != "" {
		return refuse(tool.Invalid, "/execution/lane", "the tool cannot have the fast lane: %s", obstacle)
	}
	return nil
}

func checkInteraction(s *ToolSpec) error {
	i := s.Interaction
	if !i.Intent.Valid() {
		return refuse(tool.Invalid, "/interaction/intent", "intent %.40q: expected render, action or compute", i.Intent)
	}
	if !i.Audience.Valid() {
		return refuse(tool.Invalid, "/interaction/audience", "audience %.40q: expected model or user", i.Audience)
	}
	if !i.Visibility.Valid() {
		return refuse(tool.Invalid, "/interaction/visibility", "visibility %.40q: expected external or internal",
			i.Visibility)
	}
	if err := checkRisk(i.Risk); err != nil {
		return err
	}
	if len(i.Middleware) > maxMiddleware {
		return refuse(tool.Invalid, "/interaction/middleware", "%d middleware: expected at most %d", len(i.Middleware),
			maxMiddleware)
	}
	for n, name := range i.Middleware {
		if !tool.ValidSlug(name) {
			return refuse(tool.Invalid, fmt.Sprintf("/interaction/middleware/%d", n),
				"middleware %.80q: expected what a slug may be", name)
		}
	}
	return checkFurtherNames(s)
}

func checkRisk(r *tool.Risk) error {
	const maxReason, maxKinds, maxKind = 500, 16, 64
	if r == nil {
		return nil
	}
	if !r.Level.Valid() {
		return refuse(tool.Invalid, "/interaction/risk/level", "risk level %.40q: expected low, medium or high", r.Level)
	}
	if n := utf8.RuneCountInString(r.Reason); n > maxReason {
		return refuse(tool.Invalid, "/interaction/risk/reason", "%d characters: expected at most %d", n, maxReason)
	}
	if len(r.Data) > maxKinds {
		return refuse(tool.Invalid, "/interaction/risk/data", "%d kinds of data: expected at most %d", len(r.Data), maxKinds)
	}
	for n, kind := range r.Data {
		if kind == "" || len(kind) > maxKind {
			return refuse(tool.Invalid, fmt.Sprintf("/interaction/risk/data/%d", n),
				"expected a name of at most %d bytes, such as personal", maxKind)
		}
	}
	return nil
}

func checkImplementation(s *ToolSpec) error {
	impl := s.ImplementationType()
	if impl == "" {
		return refuse(tool.Invalid, "/implementation_type", "expected an implementation type: one of %s",
			implementationNames())
	}
	if !impl.Valid() {
		return refuse(tool.Invalid, "/implementation_type", "unknown implementation type %.40q: expected one of %s", impl,
			implementationNames())
	}
	s.Implementation = impl
	return nil
}

func implementationNames() string {
	var names []string
	for _, i := range tool.Implementations() {
		names = append(names, string(i))
	}
	return strings.Join(names, ", ")
}

func (r *Registry) checkSchemas(s *ToolSpec) error {
	if err := schema.CheckInput(s.InputSchema); err != nil {
		return within("/input_schema", err)
	}
	if _, err := r.opts.Schemas.Compile(s.OutputSchema); err != nil {
		return within("/output_schema", err)
	}
	if !s.OutputCheck.Valid() {
		return refuse(tool.Invalid, "/output_check", "output check %.40q: expected refuse or warn", s.OutputCheck)
	}
	return nil
}

// checkConfig judges the configuration by its implementation type.
func (r *Registry) checkConfig(s *ToolSpec) error {
	var object map[string]json.RawMessage
	if len(s.Config) > 0 && (json.Unmarshal(s.Config, &object) != nil || object == nil) {
		return refuse(tool.Invalid, "/implementation_config", "expected a JSON object")
	}
	if err := refuseRedacted("/implementation_config", s.Config); err != nil {
		return err
	}
	return firstOf(r.checkConfigBy(s.Implementation, s.ArtifactID != "", s.Config), r.checkArguments(&s.Definition))
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
		return within("/implementation_config", err)
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
		return within("/implementation_config", err)
	}
	return nil
}

// checkRunnable refuses to publish what would not run as it says.
func (r *Registry) checkRunnable(d *tool.Definition, uploaded bool) error {
	impl := d.ImplementationType()
	switch {
	case !impl.Valid():
		return refuse(tool.Invalid, "/implementation_type", "unknown implementation type %.40q", impl)
	case impl == tool.HTTP && d.Interaction.Async:
		return refuse(tool.Invalid, "/interaction/is_async",
			"an http tool is answered by its URL at once, so it cannot also be asynchronous: drop is_async, or let an external "+
				"executor answer it (implementation type client)")
	case !r.opts.Runnable(impl):
		return refuse(tool.Conflict, "/implementation_type",
			"nothing here runs tools of type %s: the tool can be kept as a draft", impl)
	}
	if err := r.checkConfigBy(impl, uploaded || d.Artifact != nil, d.Config); err != nil {
		return err
	}
	if err := firstOf(r.checkArguments(d), r.checkHosts(d)); err != nil {
		return err
	}
	for n, name := range d.Interaction.Middleware {
		if r.opts.Middleware != nil && !r.opts.Middleware(name) {
			return refuse(tool.Conflict, fmt.Sprintf("/interaction/middleware/%d", n),
				"no worker here has the middleware %q: the tool can be kept as a draft", name)
		}
	}
	return nil
}

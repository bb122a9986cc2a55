package definition

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
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

// CheckIdentity fills in defaults, and fails with tool.Invalid for a malformed
// slug, scope or version number.
func (s *ToolSpec) CheckIdentity() error {
	if !tool.ValidSlug(s.Slug) {
		return refusal.New(tool.Invalid, "/slug", "slug %.80q: expected a letter, then letters, digits, _ or -, at most 64",
			s.Slug)
	}
	if s.Scope != "" && s.Scope != "tenant" {
		return refusal.New(tool.Invalid, "/scope", "scope %.40q: expected tenant; global tools come with the platform",
			s.Scope)
	}
	if s.Name == "" {
		s.Name = s.Slug
	}
	if s.Version != "" {
		if err := release.CheckNumber(s.Version); err != nil {
			return err
		}
	}
	if s.ArtifactID != "" {
		s.Implementation = tool.Artifact // It overrides an implementation type that is given.
	}
	return nil
}

// CheckContent fills in defaults, and fails with tool.Invalid for what no draft
// may hold: in its policy, execution, interaction and implementation type, which
// is one of types. Any type is known where types is nil.
func (s *ToolSpec) CheckContent(types executors.Types) error {
	for _, check := range []func(*ToolSpec) error{checkPolicy, checkExecution, checkInteraction} {
		if err := check(s); err != nil {
			return err
		}
	}
	return refusal.First(checkLane(s, types), checkImplementation(s, types), checkArtifact(s))
}

// CheckSchemas fails with tool.Invalid for malformed schemas and output
// sections. It first gives a retrieval tool the properties that it requires.
func (s *ToolSpec) CheckSchemas(schemas *schema.Cache) error {
	if err := checkRetrieval(s); err != nil {
		return err
	}
	if err := schema.CheckInput(s.InputSchema); err != nil {
		return refusal.Within("/input_schema", err)
	}
	if _, err := schemas.Compile(s.OutputSchema); err != nil {
		return refusal.Within("/output_schema", err)
	}
	if !s.OutputCheck.Valid() {
		return refusal.New(tool.Invalid, "/output_check", "output check %.40q: expected refuse or warn", s.OutputCheck)
	}
	return checkSections(s)
}

// Warnings lists what is valid but discouraged in the slug, the input schema and
// the description.
func (s *ToolSpec) Warnings() []string {
	warnings := append(SlugWarnings(s.Slug), looseWarnings(&s.Definition)...)
	warnings = append(warnings, projectionWarnings(&s.Definition)...)
	if strings.TrimSpace(s.Description) == "" {
		warnings = append(warnings, "no description: a model does not know when to use the tool")
	}
	return warnings
}

func checkPolicy(s *ToolSpec) error {
	if s.EgressClass == "" {
		s.EgressClass = tool.EgressNone
	}
	if s.PermissionPolicy == "" {
		s.PermissionPolicy = tool.PermissionAuto
	}
	switch {
	case !s.EgressClass.Valid():
		return refusal.New(tool.Invalid, "/egress_class", "egress class %.40q: expected none, read_only or write",
			s.EgressClass)
	case !s.PermissionPolicy.Valid():
		return refusal.New(tool.Invalid, "/permission_policy", "permission policy %.40q: expected auto or always_ask",
			s.PermissionPolicy)
	case s.EgressClass == tool.EgressWrite:
		s.RequiresApproval = true // The database sets it too.
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
		{"max_concurrency", x.MaxConcurrency, maxConcurrency},
		{"tenant_max_concurrency", x.TenantMaxConcurrency, maxConcurrency},
		{"max_attempts", x.MaxAttempts, maxAttempts},
	} {
		if f.value < 0 || f.value > f.most {
			return refusal.New(tool.Invalid, "/execution/"+f.name, "%s is %d: expected 0 for the default, or up to %d", f.name,
				f.value, f.most)
		}
	}
	if n := x.InlineBytes; n != 0 && (n < tool.MinInlineResult || n > tool.MaxInlineResult) {
		return refusal.New(tool.Invalid, "/execution/inline_bytes",
			"inline_bytes is %d: expected 0 for the default, or %d to %d", n, tool.MinInlineResult, tool.MaxInlineResult)
	}
	if err := checkTimeout("/execution", x.TimeoutSeconds); err != nil {
		return err
	}
	if !x.Trust.Valid() {
		return refusal.New(tool.Invalid, "/execution/trust", "trust %.40q: expected trusted or untrusted", x.Trust)
	}
	if len(x.ConcurrencyGroup) > maxGroupName {
		return refusal.New(tool.Invalid, "/execution/concurrency_group", "expected at most 64 characters")
	}
	return nil
}

// CheckLimits fails with tool.Invalid for limits of calls that no definition may have.
func CheckLimits(l tool.CallLimits) error {
	if n := l.MaxAttempts; n < 0 || n > maxAttempts {
		return refusal.New(tool.Invalid, "/limits/max_attempts", "max_attempts is %d: expected 0 for none, or up to %d", n,
			maxAttempts)
	}
	if n := l.InlineBytes; n != 0 && (n < tool.MinInlineResult || n > tool.MaxInlineResult) {
		return refusal.New(tool.Invalid, "/limits/inline_bytes", "inline_bytes is %d: expected 0 for none, or %d to %d", n,
			tool.MinInlineResult, tool.MaxInlineResult)
	}
	return checkTimeout("/limits", l.TimeoutSeconds)
}

func checkTimeout(within string, seconds float64) error {
	if !(seconds >= 0 && seconds <= maxTimeoutSeconds) { // Not a number either.
		return refusal.New(tool.Invalid, within+"/timeout_s",
			"timeout_s is %v: expected 0 for the default, or up to %d", seconds, maxTimeoutSeconds)
	}
	if ms := seconds * 1000; math.Abs(ms-math.Round(ms)) > 1e-6 {
		return refusal.New(tool.Invalid, within+"/timeout_s",
			"timeout_s is %v: expected whole milliseconds, at most three decimals", seconds)
	}
	return nil
}

// checkLane fails for a tool that asks for the fast lane and cannot have it.
// Lane auto never fails.
func checkLane(s *ToolSpec, types executors.Types) error {
	x := s.Execution
	if !x.Lane.Valid() {
		return refusal.New(tool.Invalid, "/execution/lane", "lane %.40q: expected auto, visible or fast", x.Lane)
	}
	if x.TenantMaxConcurrency > 0 && types.Traits(s.ImplementationType()).RunBy != tool.RunByWorker {
		return refusal.New(tool.Invalid, "/execution/tenant_max_concurrency",
			"calls of type %s are not run by a worker: limit the tools that it calls", s.ImplementationType())
	}
	if s.ImplementationType() == tool.Graph {
		return nil // Its nodes are made in place then, each as its own tool allows.
	}
	if _, obstacle := x.FastLane(types.Traits(s.ImplementationType())); x.Lane == tool.LaneFast && obstacle != "" {
		return refusal.New(tool.Invalid, "/execution/lane", "the tool cannot have the fast lane: %s", obstacle)
	}
	return nil
}

func checkInteraction(s *ToolSpec) error {
	i := s.Interaction
	if !i.Intent.Valid() {
		return refusal.New(tool.Invalid, "/interaction/intent", "intent %.40q: expected render, action or compute", i.Intent)
	}
	if !i.Audience.Valid() {
		return refusal.New(tool.Invalid, "/interaction/audience", "audience %.40q: expected model or user", i.Audience)
	}
	if !i.Visibility.Valid() {
		return refusal.New(tool.Invalid, "/interaction/visibility", "visibility %.40q: expected external or internal",
			i.Visibility)
	}
	if err := checkRisk(i.Risk); err != nil {
		return err
	}
	if err := checkConfirmation(i.Confirmation, s.InputSchema); err != nil {
		return err
	}
	if len(i.Middleware) > maxMiddleware {
		return refusal.New(tool.Invalid, "/interaction/middleware", "%d middleware: expected at most %d", len(i.Middleware),
			maxMiddleware)
	}
	for n, name := range i.Middleware {
		if !tool.ValidSlug(name) {
			return refusal.New(tool.Invalid, fmt.Sprintf("/interaction/middleware/%d", n),
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
		return refusal.New(tool.Invalid, "/interaction/risk/level", "risk level %.40q: expected low, medium or high", r.Level)
	}
	if n := utf8.RuneCountInString(r.Reason); n > maxReason {
		return refusal.New(tool.Invalid, "/interaction/risk/reason", "%d characters: expected at most %d", n, maxReason)
	}
	if len(r.Data) > maxKinds {
		return refusal.New(tool.Invalid, "/interaction/risk/data", "%d kinds of data: expected at most %d", len(r.Data),
			maxKinds)
	}
	for n, kind := range r.Data {
		if kind == "" || len(kind) > maxKind {
			return refusal.New(tool.Invalid, fmt.Sprintf("/interaction/risk/data/%d", n),
				"expected a name of at most %d bytes, such as personal", maxKind)
		}
	}
	return nil
}

func checkImplementation(s *ToolSpec, types executors.Types) error {
	impl := s.ImplementationType()
	if impl == "" {
		return refusal.New(tool.Invalid, "/implementation_type", "expected an implementation type: one of %s", types)
	}
	of, known := types.Find(impl)
	if !known && types != nil {
		return refusal.New(tool.Invalid, "/implementation_type", "unknown implementation type %.40q: expected one of %s",
			impl, types)
	}
	s.Implementation = impl
	if of.CheckDefinition != nil {
		return of.CheckDefinition(&s.Definition) //nolint:wrapcheck // It names the place in the definition.
	}
	return nil
}

// checkArtifact fails for an artifact tool with an egress class, and declares it
// pure: its program runs in the sandbox, which has no network (reference number
// S3-37).
func checkArtifact(s *ToolSpec) error {
	if s.Implementation != tool.Artifact {
		return nil
	}
	if s.EgressClass != tool.EgressNone {
		return refusal.New(
			tool.Invalid, "/egress_class",
			"an artifact runs in the sandbox, which has no network: its egress class is none, not %s; what calls out is an "+
				"http or mcp tool",
			s.EgressClass,
		)
	}
	s.Execution.Pure = true
	return nil
}

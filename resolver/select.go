package resolver

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/tool"
)

// Rule names a rule of resolution, in the order in which they apply.
type Rule string

// Rules.
const (
	RuleRequest        Rule = "request"        // The request itself is well-formed.
	RuleTenantActive   Rule = "tenant_active"  // The tenant is not suspended.
	RuleIsolation      Rule = "isolation"      // The tenant's own tool, or a global one.
	RuleShadowing      Rule = "shadowing"      // Its own comes before a global one.
	RuleAlias          Rule = "alias"          // No tool has the slug, but one has it as a further name.
	RuleAudience       Rule = "tenant_slugs"   // The tool is for this tenant.
	RuleVisibility     Rule = "visibility"     // The tool is visible to the caller.
	RuleSet            Rule = "set"            // The tool is in the set that the request is limited to.
	RulePermission     Rule = "permission"     // The principal holds what the tool requires.
	RuleActive         Rule = "active"         // The tool is active.
	RuleEnabled        Rule = "enabled"        // The tool is not disabled.
	RuleSwitch         Rule = "switch"         // The tenant or the platform has it switched on.
	RuleApproval       Rule = "approval"       // What they require beside its policy; it refuses nothing.
	RuleOverride       Rule = "override"       // What they change of how it is shown and run; it refuses nothing.
	RuleQuarantine     Rule = "quarantine"     // The tool is not quarantined.
	RuleImplementation Rule = "implementation" // Its implementation type is known.
	RuleDeprecation    Rule = "deprecation"    // A deprecated tool takes no new bindings.
	RulePublished      Rule = "published"      // Production does not run drafts.
	RuleVersion        Rule = "version"        // One version meets the constraint.
	RuleCanary         Rule = "canary"         // Whether the run gets a version that only some do; it refuses nothing.
)

// Selection is what [Select] decides: a version of a tool, or a refusal.
type Selection struct {
	Tool       *tool.Tool // Nil when none was found.
	Version    VersionInfo
	Draft      bool // Version stands for the head as it is.
	Shadows    bool
	Deprecated bool
	Warnings   []string
	Err        *tool.Error // Why nothing may run; nil when something may.
	AskedAs    string      // The alias or former name that it was found by, if any.
	Overrides  tool.Overrides
}

// errNotPermitted is the cause of a refusal for a missing permission.
var errNotPermitted = errors.New("missing permission")

// Select decides which of the candidates, if any, a request resolves to. It is
// the only place that decides so, for calls and lists alike, and it is pure:
// the same candidates and request always give the same selection.
//
// It fails with tool.Invalid for a malformed request or an unknown
// implementation type; with tool.NotFound for a tool that the tenant may not
// know of, and for a constraint that no version meets; with tool.Denied for a
// suspended tenant and a missing permission; and with tool.Conflict where the
// tool's state forbids it.
func Select(c Candidates, req Request) Selection {
	return choose(c, req, &trail{})
}

// choose applies the rules in order and records them in a trail.
func choose(c Candidates, req Request, log *trail) Selection {
	want, err := check(req, log)
	if err != nil {
		return Selection{Err: err}
	}
	if !c.TenantActive {
		return Selection{Err: log.refuse(RuleTenantActive, tool.Denied, "the tenant is suspended")}
	}
	log.pass(RuleTenantActive, "tenant %q is active", c.TenantSlug)

	entry, shadows, err := find(c, req, log)
	if err != nil {
		return Selection{Err: err}
	}
	if want, err = within(entry, req, want, log); err != nil {
		return Selection{Err: err}
	}
	t := &entry.Tool
	t.Policy = entry.Overrides.Raise(t.Policy)
	s := Selection{
		Tool: t, Shadows: shadows, Deprecated: t.Status == tool.Deprecated, Overrides: entry.Overrides,
	}
	if s.Err = authority(entry, c.Types, req, want, log); s.Err != nil {
		return s
	}
	if s.Deprecated {
		s.Warnings = append(s.Warnings, fmt.Sprintf("tool %q is deprecated", t.Slug))
	}
	if entry.Alias != nil && !entry.Alias.Internal {
		s.AskedAs = entry.Alias.Name
	}
	if a := entry.Alias; a != nil && a.RemoveBy != "" {
		s.Warnings = append(
			s.Warnings, fmt.Sprintf("tool %q is called %q now: the old name works until %s", a.Name, t.Slug, a.RemoveBy),
		)
	}
	s.Version, s.Draft, s.Err = pick(entry, req, want, log)
	return s
}

// check refuses malformed requests.
func check(req Request, log *trail) (constraint, *tool.Error) {
	switch {
	case req.Principal.Tenant == "":
		return constraint{}, log.refuse(RuleRequest, tool.Denied, "the caller belongs to no tenant")
	case (req.Ref.Slug == "") == (req.Ref.ID == ""):
		return constraint{}, log.refuse(RuleRequest, tool.Invalid, "expected a tool reference with either a slug or an id")
	case req.Mode != "" && !req.Mode.Valid():
		return constraint{}, log.refuse(RuleRequest, tool.Invalid,
			fmt.Sprintf("mode %q: expected production or debug", req.Mode))
	}
	want, err := parseConstraint(req.Ref.Constraint)
	if err != nil {
		return constraint{}, log.refuse(RuleRequest, tool.Invalid, err.Error())
	}
	log.pass(RuleRequest, "%s in %s mode", req.Ref, modeOf(req))
	return want, nil
}

// find returns the entry of a reference: by id exactly, by slug the tenant's own before a global
// one, and by alias likewise if no tool has the slug.
func find(c Candidates, req Request, log *trail) (entry *Entry, shadows bool, err *tool.Error) {
	own, global := named(c, req, func(e *Entry) bool { return e.Tool.Slug == req.Ref.Slug || e.Tool.ID == req.Ref.ID })
	if own == nil && global == nil {
		own, global = named(c, req, func(e *Entry) bool { return e.Alias != nil && e.Alias.Name == req.Ref.Slug })
	}
	entry = own
	if own == nil {
		entry = global
	}
	if entry == nil {
		return nil, false, log.hide(RuleIsolation, req, "neither the tenant nor the platform has such a tool")
	}
	log.pass(RuleIsolation, "%s tool %s", entry.Tool.Scope(), entry.Tool.ID)
	shadows = own != nil && global != nil
	switch {
	case shadows:
		log.pass(RuleShadowing, "the tenant's own tool hides global tool %s", global.Tool.ID)
	case req.Ref.ID != "":
		log.pass(RuleShadowing, "named by id: nothing can hide it")
	default:
		log.pass(RuleShadowing, "no other tool has this name")
	}
	if a := entry.Alias; a != nil && a.RemoveBy != "" {
		log.pass(RuleAlias, "no tool has the slug; it is a former name of %s, until %s", entry.Tool.Slug, a.RemoveBy)
	} else if a != nil {
		log.pass(RuleAlias, "no tool has the slug; it is an alias of %s", entry.Tool.Slug)
	}
	if entry.Tool.Global() && !entry.Tool.Serves(c.TenantSlug) {
		return nil, false, log.hide(RuleAudience, req, "the tool is for other tenants")
	}
	log.pass(RuleAudience, "the tool is for this tenant")
	internal := entry.Tool.Interaction.Visibility == tool.VisibilityInternal
	switch {
	case internal && req.Outside:
		return nil, false, log.hide(RuleVisibility, req, "the tool is internal: API keys and MCP clients do not call it")
	case internal:
		log.pass(RuleVisibility, "internal: agents and workflows call it, API keys and MCP clients do not")
	default:
		log.pass(RuleVisibility, "external: API keys and MCP clients may call it")
	}
	return entry, shadows, nil
}

// within applies the set that a request is limited to, and returns the constraint that versions must meet.
func within(entry *Entry, req Request, want constraint, log *trail) (constraint, *tool.Error) {
	if req.Within == nil {
		return want, nil
	}
	text, ok := (*req.Within)[entry.Tool.ID]
	if !ok {
		return want, log.hide(RuleSet, req, "the tool is not in the set")
	}
	own, err := parseConstraint(text)
	if err != nil {
		return want, log.refuse(RuleSet, tool.Invalid, err.Error())
	}
	log.pass(RuleSet, "the tool is in the set, at %q", text)
	return want.and(own), nil
}

// named returns the tenant's own entry and the global one that match.
func named(c Candidates, req Request, fits func(*Entry) bool) (own, global *Entry) {
	for i := range c.Entries {
		e := &c.Entries[i]
		switch {
		case !fits(e):
		case e.Tool.Tenant == req.Principal.Tenant:
			own = e
		case e.Tool.Global():
			global = e
		}
	}
	return own, global
}

// known reports whether an implementation type is among the known ones.
func known(types []tool.Implementation, i tool.Implementation) bool {
	return i != "" && (types == nil || slices.Contains(types, i))
}

// authority applies the rules on the tool's state and the principal.
func authority(
	entry *Entry, types []tool.Implementation, req Request, want constraint, log *trail,
) *tool.Error {
	t := &entry.Tool
	if !policy.Permits(req.Principal, t.Policy) {
		e := log.refuse(
			RulePermission, tool.Denied, fmt.Sprintf("tool %q: the caller lacks the permission it requires", t.Slug),
		)
		e.Err = errNotPermitted
		return e
	}
	if t.RequiredPermission == "" {
		log.pass(RulePermission, "requires none")
	} else {
		log.pass(RulePermission, "requires %q, held by %s", t.RequiredPermission, req.Principal.Subject)
	}
	if !t.Active {
		return log.refuse(RuleActive, tool.Conflict, fmt.Sprintf("tool %q is inactive", t.Slug))
	}
	log.pass(RuleActive, "is_active is true")
	if t.Status == tool.Disabled {
		return log.refuse(RuleEnabled, tool.Conflict, fmt.Sprintf("tool %q is disabled", t.Slug))
	}
	log.pass(RuleEnabled, "status is %s", t.Status)
	if err := switched(entry, log); err != nil {
		return err
	}
	if t.Quarantine != "" {
		return log.refuse(RuleQuarantine, tool.Conflict, fmt.Sprintf("tool %q is quarantined: %s", t.Slug, t.Quarantine))
	}
	log.pass(RuleQuarantine, "it is not quarantined")
	if kind := t.ImplementationType(); !known(types, kind) {
		return log.refuse(RuleImplementation, tool.Invalid,
			fmt.Sprintf("tool %q has the unknown implementation type %q", t.Slug, kind))
	}
	log.pass(RuleImplementation, "implementation type %s", t.ImplementationType())
	switch {
	case t.Status != tool.Deprecated:
		log.pass(RuleDeprecation, "not deprecated")
	case req.New || !req.AllowDeprecated && !want.exact():
		return log.refuse(
			RuleDeprecation, tool.Conflict,
			fmt.Sprintf("tool %q is deprecated: it serves existing bindings only", t.Slug),
		)
	default:
		log.pass(RuleDeprecation, "deprecated, but this binding exists already or names an exact version")
	}
	return nil
}

// switched applies the overrides.
func switched(entry *Entry, log *trail) *tool.Error {
	t := &entry.Tool
	on, by := entry.Overrides.Enabled(t.Global())
	if !on {
		err := log.refuse(RuleSwitch, tool.Conflict, fmt.Sprintf("tool %q is switched off", t.Slug))
		log.saw(describe(by, unswitched(t)))
		return err
	}
	if log.keep {
		log.pass(RuleSwitch, "%s", describe(by, unswitched(t)))
	}
	for _, level := range []*tool.Override{entry.Overrides.Tenant, entry.Overrides.Platform} {
		if level != nil && level.RequiresApproval {
			log.pass(RuleApproval, "%s requires approval%s", levelOf(level), because(level))
		}
	}
	for _, level := range []*tool.Override{entry.Overrides.Platform, entry.Overrides.Tenant} {
		if level != nil && level.Adapts() && log.keep {
			log.pass(RuleOverride, "%s, changed %s (revision %d)%s", levelOf(level), changes(&level.Adaptation),
				level.Revision, because(level))
		}
	}
	return nil
}

// changes names what an override changes, without values.
func changes(a *tool.Adaptation) string {
	var out []string
	if a.Description != "" {
		out = append(out, "the description")
	}
	for _, name := range slices.Sorted(maps.Keys(a.Defaults)) {
		out = append(out, fmt.Sprintf("the default of %q", name))
	}
	if l := a.Limits; l != nil {
		if l.TimeoutSeconds > 0 {
			out = append(out, fmt.Sprintf("timeout_s to at most %v", l.TimeoutSeconds))
		}
		if l.MaxAttempts > 0 {
			out = append(out, fmt.Sprintf("max_attempts to at most %d", l.MaxAttempts))
		}
		if l.InlineBytes > 0 {
			out = append(out, fmt.Sprintf("inline_bytes to at most %d", l.InlineBytes))
		}
	}
	return strings.Join(out, ", ")
}

// unswitched explains the state of a tool that no override switches.
func unswitched(t *tool.Tool) string {
	if t.Global() {
		return "off: a global tool is, until it is switched on"
	}
	return "on: a tenant's own tool is, until it is switched off"
}

// describe explains which override switched a tool, or the given default without one.
func describe(by *tool.Override, unset string) string {
	if by == nil {
		return unset
	}
	state := "off"
	if *by.Enabled {
		state = "on"
	}
	return fmt.Sprintf("switched %s by %s%s", state, levelOf(by), because(by))
}

func levelOf(o *tool.Override) string {
	if o.Tenant == "" {
		return "the platform, for every tenant"
	}
	return "the tenant, " + o.ChangedBy
}

func because(o *tool.Override) string {
	if o.Reason == "" {
		return ""
	}
	return ": " + o.Reason
}

func modeOf(req Request) tool.Mode {
	if req.Mode == "" {
		return tool.Production
	}
	return req.Mode
}

func notFound(ref tool.Ref) *tool.Error {
	return &tool.Error{Kind: tool.NotFound, Op: "resolver.Resolve", Msg: fmt.Sprintf("tool %q not found", ref.Name())}
}

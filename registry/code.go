package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// CodeSpec is a tool that is defined in a host's code.
type CodeSpec struct {
	Slug       string
	Version    string // A semantic version, greater whenever Definition differs.
	Definition tool.Definition
	Policy     tool.Policy // Of a new tool; see [Registry.SyncCode] for an existing one.
}

// codeSubject is the subject that versions of tools defined in code are
// recorded with.
const codeSubject = "code"

// syncTries bounds the attempts for a tool that another worker of the host
// publishes at the same time.
const syncTries = 5

// SyncCode publishes to a tenant the tools that are defined in a host's code: new
// tools, and new versions of existing ones. It changes no existing version, so that
// an older program that starts beside a newer one has no effect. It keeps tools
// that the code no longer defines.
//
// It keeps the status and the policy of an existing tool, except that the stricter
// egress class and approval of tenant and code win. It publishes nothing, and
// returns a warning, if the tenant disabled or deprecated the tool, has a greater
// version, has versions of its own that the new one does not follow, or uses the
// slug or a further name for another tool.
//
// A tool that exists under a former name of the definition is renamed with its
// versions; the former name works until its last day. An older program with the
// former name leaves the tool alone.
//
// It fails with tool.Conflict for a published version with other content, and for a
// number that is too low for the change.
func (r *Registry) SyncCode(ctx context.Context, tenant tool.TenantID, specs []CodeSpec) ([]definition.Change, error) {
	changes := make([]definition.Change, 0, len(specs))
	for _, s := range specs {
		c, err := r.syncCode(ctx, tenant, s)
		for try := 1; tool.KindOf(err) == tool.Conflict && try < syncTries; try++ {
			c, err = r.syncCode(ctx, tenant, s)
		}
		if err != nil {
			return changes, fmt.Errorf("publishing tool %q to tenant %s: %w", s.Slug, tenant, err)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func (r *Registry) syncCode(ctx context.Context, tenant tool.TenantID, s CodeSpec) (definition.Change, error) {
	want := definition.ToolSpec{
		Slug: s.Slug, Version: s.Version, Publish: true, Definition: s.Definition,
		Policy: s.Policy,
	}
	if _, err := r.checkTool(&want); err != nil { // Fills in defaults too, so that digests compare.
		return definition.Change{}, err
	}
	before, versions, err := r.findCode(ctx, tenant, &want)
	if err != nil {
		return definition.Change{}, err
	}
	c := definition.Change{Kind: "tool", Slug: s.Slug, Version: s.Version, Action: definition.Unchanged}
	if before == nil {
		return heldOr(c)(r.applyTool(ctx, tool.Principal{Tenant: tenant, Subject: codeSubject}, want, true))
	}
	c.ID = before.ID
	held, err := obstacle(before, versions, &want)
	if err != nil || held != "" || has(versions, s.Version) {
		if held != "" {
			c.Warnings = []string{held}
		}
		return c, err
	}
	want.Policy = strictest(before.Policy, want.Policy)
	applied, err := r.applyTool(ctx, tool.Principal{Tenant: tenant, Subject: codeSubject}, want, true)
	if tool.KindOf(err) == tool.Conflict && slices.ContainsFunc(versions, madeByTenant) {
		c.Warnings = []string{"its own versions are in the way: " + tool.AsError(err).Msg}
		return c, nil
	}
	return heldOr(c)(applied, err)
}

// heldOr returns the applied change, or unchanged with a warning where a name of
// the definition belongs to another tool.
func heldOr(unchanged definition.Change) func(definition.Change, error) (definition.Change, error) {
	return func(applied definition.Change, err error) (definition.Change, error) {
		if warning, held := heldByName(err); held {
			unchanged.Warnings = []string{warning}
			return unchanged, nil
		}
		return applied, err
	}
}

// obstacle returns why the tenant's tool keeps a version from being published; empty
// for no reason. It fails with tool.Conflict where the code changed the content of
// a published version.
func obstacle(before *tool.Tool, versions []tool.Version, want *definition.ToolSpec) (held string, err error) {
	switch {
	case !sameFunction(&before.Definition, &want.Definition) && !renamedInCode(&before.Definition, want):
		return "the tenant has another tool of this slug", nil
	case before.Status == tool.Disabled, before.Status == tool.Deprecated:
		return fmt.Sprintf("the tool is %s", before.Status), nil
	case !before.Active:
		return "the tool is inactive", nil
	}
	digest, err := tool.Snapshot{Definition: want.Definition}.Digest()
	if err != nil {
		return "", refusal.New(tool.Invalid, "", "tool %q holds malformed JSON", want.Slug)
	}
	if err := release.CheckNumber(want.Version); err != nil {
		return "", err
	}
	number := semver.MustParse(want.Version)
	var greater *semver.Version
	for _, v := range versions {
		switch n, err := semver.StrictNewVersion(v.Number); {
		case v.Number == want.Version && v.Digest == digest:
			return "", nil
		case v.Number == want.Version && renamedInCode(&v.Snapshot.Definition, want):
			return fmt.Sprintf("version %s was published under the former name: give what the code has now a greater version",
				v.Number), nil
		case v.Number == want.Version && madeByTenant(v):
			return fmt.Sprintf("the tenant made a version %s of its own", v.Number), nil
		case v.Number == want.Version:
			return "", refusal.New(
				tool.Conflict, "/version",
				"version %s was published with other content: give what the code has now a greater version", v.Number,
			)
		case err == nil && n.GreaterThan(number):
			greater = n
		}
	}
	if greater != nil {
		return fmt.Sprintf("version %s is there, which is greater", greater), nil
	}
	return "", nil
}

func has(versions []tool.Version, number string) bool {
	return slices.ContainsFunc(versions, func(v tool.Version) bool { return v.Number == number })
}

func madeByTenant(v tool.Version) bool { return v.CreatedBy != codeSubject }

// sameFunction reports whether two definitions run the same function.
func sameFunction(a, b *tool.Definition) bool {
	return a.ImplementationType() == b.ImplementationType() && functionName(a) == functionName(b)
}

func functionName(d *tool.Definition) string {
	var config struct {
		FunctionName string `json:"function_name"`
	}
	_ = json.Unmarshal(d.Config, &config) // A malformed configuration names none.
	return config.FunctionName
}

// strictest returns the tenant's policy with the stricter fields of the code's.
func strictest(own, code tool.Policy) tool.Policy {
	order := []tool.Egress{tool.EgressNone, tool.EgressReadOnly, tool.EgressWrite}
	if cmp.Compare(slices.Index(order, code.EgressClass), slices.Index(order, own.EgressClass)) > 0 {
		own.EgressClass = code.EgressClass
	}
	own.RequiresApproval = own.RequiresApproval || code.RequiresApproval
	if code.PermissionPolicy == tool.PermissionAlwaysAsk {
		own.PermissionPolicy = tool.PermissionAlwaysAsk
	}
	return own
}

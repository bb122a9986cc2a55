package resolver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// viewKey names a version under the overrides that adapt it.
type viewKey struct {
	versionKey

	at tool.OverrideRevisions
}

// Adapted is [Resolver.Version] as overrides of the given revisions adapt it: with their description, their
// defaults and the limits that they narrow. It is what a run that pinned both shows to models and executes,
// whatever was decided since. The digest stays that of the stored version.
func (r *Resolver) Adapted(
	ctx context.Context, tenant tool.TenantID, toolID, digest string, at tool.OverrideRevisions,
) (*tool.Version, error) {
	if at == (tool.OverrideRevisions{}) {
		return r.Version(ctx, tenant, toolID, digest)
	}
	if v, ok := r.views.Get(viewKey{versionKey{tenant, toolID, digest}, at}); ok {
		return v, nil
	}
	v, err := r.Version(ctx, tenant, toolID, digest)
	if err != nil {
		return nil, err
	}
	overrides, err := r.source.OverridesAt(ctx, tenant, toolID, at)
	if err != nil {
		return nil, fmt.Errorf("loading the overrides of tool %s: %w", toolID, err)
	}
	return r.adapt(tenant, v, overrides)
}

// adapt returns a version as overrides adapt it; the version itself where they do not.
func (r *Resolver) adapt(tenant tool.TenantID, v *tool.Version, overrides tool.Overrides) (*tool.Version, error) {
	at := overrides.Revisions()
	if at == (tool.OverrideRevisions{}) {
		return v, nil
	}
	key := viewKey{versionKey{tenant, v.ToolID, v.Digest}, at}
	if known, ok := r.views.Get(key); ok && known.Number == v.Number {
		return known, nil
	}
	out, err := adapted(v, overrides.Adaptation())
	if err != nil {
		return nil, err
	}
	r.views.Set(key, out)
	return out, nil
}

// adapted returns an adapted copy of a version. A default of an argument that the version does not have is
// left out: it was set for another version.
func adapted(v *tool.Version, a tool.Adaptation) (*tool.Version, error) {
	out := *v
	if a.Description != "" {
		out.Snapshot.Description = a.Description
	}
	if a.Limits != nil {
		out.Snapshot.Execution = a.Limits.Narrow(out.Snapshot.Execution)
	}
	if len(a.Defaults) == 0 {
		return &out, nil
	}
	var err error
	if out.Snapshot.InputSchema, out.Defaults, err = withDefaults(v.Snapshot.InputSchema, a.Defaults); err != nil {
		return nil, &tool.Error{
			Kind: tool.Conflict, Op: "resolver.Resolve", Err: err,
			Msg: fmt.Sprintf("the input schema of %s takes no defaults: remove them from its override", v),
		}
	}
	return &out, nil
}

// withDefaults returns an input schema that shows defaults of its properties, which are not required then, and
// those that it has a property for.
func withDefaults(
	schema json.RawMessage, defaults map[string]json.RawMessage,
) (json.RawMessage, map[string]json.RawMessage, error) {
	var top, properties map[string]json.RawMessage
	var required []string
	if len(schema) == 0 {
		return schema, nil, nil
	}
	if err := json.Unmarshal(schema, &top); err != nil {
		return nil, nil, fmt.Errorf("reading the input schema: %w", err)
	}
	for name, into := range map[string]any{"properties": &properties, "required": &required} {
		if raw, ok := top[name]; ok {
			if err := json.Unmarshal(raw, into); err != nil {
				return nil, nil, fmt.Errorf("reading %q of the input schema: %w", name, err)
			}
		}
	}
	used := make(map[string]json.RawMessage, len(defaults))
	for name, value := range defaults {
		raw, ok := properties[name]
		if !ok {
			continue
		}
		used[name] = value
		var property map[string]json.RawMessage
		if json.Unmarshal(raw, &property) != nil || property == nil {
			continue // It is true or false.
		}
		property["default"] = value
		shown, err := json.Marshal(property)
		if err != nil {
			return nil, nil, fmt.Errorf("writing a property of the input schema: %w", err)
		}
		properties[name] = shown
	}
	if len(used) == 0 {
		return schema, nil, nil
	}
	required = slices.DeleteFunc(required, func(name string) bool { return used[name] != nil })
	for name, value := range map[string]any{"properties": properties, "required": required} {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, nil, fmt.Errorf("writing the input schema: %w", err)
		}
		top[name] = raw
	}
	if len(required) == 0 {
		delete(top, "required")
	}
	out, err := json.Marshal(top)
	return out, used, err
}

// Standing is what is decided about a tool in a tenant, all overrides considered.
type Standing struct {
	Enabled     bool
	Why         string      // Who switched it on or off, and their reason.
	Policy      tool.Policy // With what overrides require.
	Description string      // What models and clients are shown of the draft.
	Adaptation  tool.Adaptation
	Overrides   tool.Overrides
}

// Standings returns what is decided about tools that the tenant sees, in their order, by the rules of
// [Select], whether they may be called or not.
func (r *Resolver) Standings(ctx context.Context, tenant tool.TenantID, tools []tool.Tool) ([]Standing, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	ids := make([]string, len(tools))
	for i := range tools {
		ids[i] = tools[i].ID
	}
	overrides, err := r.source.OverridesOf(ctx, tenant, ids)
	if err != nil {
		return nil, fmt.Errorf("reading the overrides of %d tools: %w", len(ids), err)
	}
	out := make([]Standing, len(tools))
	for i := range tools {
		out[i] = StandingOf(&tools[i], overrides[tools[i].ID])
	}
	return out, nil
}

// StandingOf returns what overrides decide about a tool.
func StandingOf(t *tool.Tool, o tool.Overrides) Standing {
	on, by := o.Enabled(t.Global())
	return Standing{
		Enabled: on, Why: describe(by, unswitched(t)), Policy: o.Raise(t.Policy), Overrides: o,
		Description: shownDescription(t, o), Adaptation: o.Adaptation(),
	}
}

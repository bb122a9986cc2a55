package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkAdaptation refuses an adaptation that does not fit the newest published version of a tool, or its draft
// where none is published. Later versions may differ: then a default without its argument, and a limit that is
// wider than theirs, have no effect.
func (r *Registry) checkAdaptation(ctx context.Context, p tool.Principal, t *tool.Tool, a *tool.Adaptation) error {
	if !a.Adapts() {
		return nil
	}
	if n := utf8.RuneCountInString(a.Description); n > tool.MaxOverrideDescription {
		return refusal.New(tool.Invalid, "/description", "the description has %d characters: expected at most %d", n,
			tool.MaxOverrideDescription)
	}
	if len(a.Defaults) == 0 && a.Limits == nil {
		return nil
	}
	d, err := r.current(ctx, p, t)
	if err != nil {
		return err
	}
	if err := checkLimits(a.Limits, d); err != nil {
		return err
	}
	return r.checkDefaults(t, d, a.Defaults)
}

// current returns the definition of the newest published version, or the draft.
func (r *Registry) current(ctx context.Context, p tool.Principal, t *tool.Tool) (*tool.Definition, error) {
	versions, err := r.store.ListVersions(ctx, p.Tenant, t.ID)
	if err != nil {
		return nil, fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	d, newest := &t.Definition, (*semver.Version)(nil)
	for i := range versions {
		number, err := semver.NewVersion(versions[i].Number)
		if err == nil && versions[i].Published && (newest == nil || number.GreaterThan(newest)) {
			d, newest = &versions[i].Snapshot.Definition, number
		}
	}
	return d, nil
}

// checkLimits refuses limits that are no limits, or wider than those of a definition.
func checkLimits(l *tool.CallLimits, d *tool.Definition) error {
	if l == nil {
		return nil
	}
	if err := definition.CheckLimits(*l); err != nil {
		return err
	}
	for _, f := range []struct {
		name       string
		limit, own float64
	}{
		{"timeout_s", l.TimeoutSeconds, d.Execution.Timeout().Seconds()},
		{"max_attempts", float64(l.MaxAttempts), float64(d.Execution.Attempts())},
		{"inline_bytes", float64(l.InlineBytes), float64(cmp.Or(d.Execution.InlineBytes, tool.MaxInlineResult))},
	} {
		if f.limit > f.own {
			return refusal.New(tool.Invalid, "/limits/"+f.name,
				"%s %v is wider than the tool's own %v: an override only narrows", f.name, f.limit, f.own)
		}
	}
	return nil
}

// checkDefaults refuses defaults of arguments that a definition does not have, or whose schema does not accept
// them.
func (r *Registry) checkDefaults(t *tool.Tool, d *tool.Definition, defaults map[string]json.RawMessage) error {
	if len(defaults) == 0 {
		return nil
	}
	if d.ImplementationType() == tool.Provider {
		return refusal.New(tool.Invalid, "/defaults",
			"tool %q is the model provider's own: its arguments are not ours to fill in", t.Slug)
	}
	var top map[string]json.RawMessage
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(d.InputSchema, &top); err == nil && top["properties"] != nil {
		_ = json.Unmarshal(top["properties"], &properties) // The schema was checked when it was stored.
	}
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		if _, ok := properties[name]; !ok {
			return refusal.New(tool.Invalid, "/defaults/"+name, "tool %q has no argument %q: it has %s", t.Slug,
				tool.Clip(name, 64), argumentNames(properties))
		}
	}
	given, err := json.Marshal(defaults)
	if err != nil {
		return refusal.New(tool.Invalid, "/defaults", "expected an object of JSON values")
	}
	if len(given) > tool.MaxOverrideDefaults {
		return refusal.New(tool.Invalid, "/defaults", "%d bytes of defaults: expected at most %d", len(given),
			tool.MaxOverrideDefaults)
	}
	// Arguments without a default are the caller's to give.
	part := map[string]json.RawMessage{}
	for _, keyword := range []string{"$defs", "definitions", "properties"} {
		if top[keyword] != nil {
			part[keyword] = top[keyword]
		}
	}
	raw, err := json.Marshal(part)
	if err != nil {
		return fmt.Errorf("writing the schema of defaults: %w", err)
	}
	compiled, err := r.opts.Schemas.Compile(raw)
	if err != nil {
		return refusal.New(tool.Invalid, "/defaults", "the input schema of tool %q takes no defaults: %s", t.Slug,
			tool.AsError(err).Msg)
	}
	if err := compiled.ValidateDefault(given); err != nil {
		return refusal.Within("/defaults", err)
	}
	return nil
}

// argumentNames lists names of arguments for people.
func argumentNames(properties map[string]json.RawMessage) string {
	const most = 20
	if len(properties) == 0 {
		return "none"
	}
	names := slices.Sorted(maps.Keys(properties))
	text := fmt.Sprintf("%q", names[:min(len(names), most)])
	if len(names) > most {
		return text + " and more"
	}
	return text
}

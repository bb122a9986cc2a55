package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// pin looks up the uploaded program that a tool runs, and derives the input
// schema where the tool has none. A draft may name an artifact that does not
// exist yet: it then has no pin and cannot be published. A pipeline must exist.
// The warnings also list what else the tool refers to that does not exist, see
// [Advice].
func (r *Registry) pin(ctx context.Context, t *tool.Tool) (warnings []string, err error) {
	if warnings, err = r.pinProgram(ctx, t); err != nil {
		return nil, err
	}
	return append(warnings, r.advise(ctx, t)...), nil
}

func (r *Registry) pinProgram(ctx context.Context, t *tool.Tool) (warnings []string, err error) {
	if err := r.checkBroughtPipeline(ctx, t.Tenant, &t.Definition); err != nil {
		return nil, err
	}
	t.Artifact = nil
	if t.ArtifactID == "" {
		return nil, nil
	}
	pin, inputs, err := r.pinOf(ctx, t)
	if e, ok := errors.AsType[*tool.Error](err); ok && (e.Kind == tool.NotFound || e.Kind == tool.Invalid) {
		if r.dry {
			return nil, nil
		}
		return []string{"it cannot be published as it is: " + e.Msg}, nil
	}
	if err != nil {
		return nil, err
	}
	t.Artifact = pin
	if len(t.InputSchema) == 0 && len(inputs) > 0 {
		if t.InputSchema, err = schemaOf(inputs); err != nil {
			return nil, err
		}
		t.Interaction.OpenInput = len(schema.LoosePlaces(t.InputSchema)) > 0 // The program says no more.
	}
	return nil, nil
}

// pinOf returns the version of the artifact that a tool asks for: the highest
// that meets its constraint.
func (r *Registry) pinOf(ctx context.Context, t *tool.Tool) (*tool.ArtifactPin, []tool.ArtifactInput, error) {
	if t.Global() {
		return nil, nil, refuse(tool.Invalid, "/artifact_id",
			"artifacts belong to tenants: a tool of the platform has its program in implementation_config")
	}
	want, err := parseArtifactConstraint(t.ArtifactVersion)
	if err != nil {
		return nil, nil, err
	}
	a, err := r.store.FindArtifact(ctx, t.Tenant, t.ArtifactID)
	if tool.KindOf(err) == tool.NotFound {
		return nil, nil, refuse(tool.NotFound, "/artifact_id", "artifact %.64q not found: upload it first", t.ArtifactID)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("finding artifact %q: %w", t.ArtifactID, err)
	}
	versions, err := r.store.ListArtifactVersions(ctx, t.Tenant, a.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the versions of artifact %q: %w", a.Slug, err)
	}
	var best *ArtifactVersion
	var highest *semver.Version
	for i := range versions {
		n, err := semver.StrictNewVersion(versions[i].Number)
		if err == nil && want(n) && (highest == nil || n.GreaterThan(highest)) {
			best, highest = &versions[i], n
		}
	}
	switch {
	case len(versions) == 0:
		return nil, nil, refuse(tool.NotFound, "/artifact_version", "artifact %q has no version yet: upload one", a.Slug)
	case best == nil:
		return nil, nil, refuse(tool.NotFound, "/artifact_version", "no version of artifact %q meets %.40q: the newest is %s",
			a.Slug, t.ArtifactVersion, a.Version)
	}
	return &tool.ArtifactPin{ID: a.ID, Version: best.Number, Digest: best.Digest}, best.Inputs, nil
}

// parseArtifactConstraint returns a function that reports whether a version
// satisfies the constraint. Without a constraint, every release does;
// prereleases do only where the constraint names one.
func parseArtifactConstraint(text string) (func(*semver.Version) bool, error) {
	if text == "" {
		return func(n *semver.Version) bool { return n.Prerelease() == "" }, nil
	}
	rules, err := semver.NewConstraint(text)
	if err != nil || len(text) > 128 {
		return nil, refuse(tool.Invalid, "/artifact_version",
			"version constraint %.40q: expected an exact version such as 1.2.0, a range such as ^1.2, or none", text)
	}
	return rules.Check, nil
}

// checkPinned refuses to publish a version whose artifact is missing, stopped
// or takes other inputs than the tool's schema lets through.
func (r *Registry) checkPinned(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	pin := v.Snapshot.Artifact
	if pin == nil {
		if t.ArtifactID == "" || v.Published {
			return nil
		}
		_, _, err := r.pinOf(ctx, t)
		if r.dry && tool.KindOf(err) == tool.NotFound {
			return nil // The same batch may bring it.
		}
		return err
	}
	a, err := r.store.FindArtifact(ctx, t.Tenant, pin.ID)
	switch {
	case tool.KindOf(err) == tool.NotFound:
		return refuse(tool.NotFound, "/artifact_id", "artifact %.64q not found: upload it first", pin.ID)
	case err != nil:
		return fmt.Errorf("finding artifact %q: %w", pin.ID, err)
	case a.Status == ArtifactDisabled:
		return refuse(tool.Conflict, "/artifact_id", "artifact %q is disabled: enable it before publishing what runs it",
			a.Slug)
	case a.Status == ArtifactDeprecated && !v.Published:
		return refuse(
			tool.Conflict, "/artifact_id", "artifact %q is deprecated: it runs where it is pinned, and nothing new pins it",
			a.Slug,
		)
	}
	versions, err := r.store.ListArtifactVersions(ctx, t.Tenant, a.ID)
	if err != nil {
		return fmt.Errorf("listing the versions of artifact %q: %w", a.Slug, err)
	}
	i := slices.IndexFunc(versions, func(have ArtifactVersion) bool { return have.Number == pin.Version })
	if i < 0 {
		return refuse(tool.NotFound, "/artifact_version", "artifact %q has no version %s", a.Slug, pin.Version)
	}
	return checkFits(v.Snapshot.InputSchema, &a, &versions[i])
}

// checkFits refuses an input schema that lets through what the program refuses:
// a call without a required input, or with an argument that it does not take.
func checkFits(input json.RawMessage, a *Artifact, v *ArtifactVersion) error {
	if len(v.Inputs) == 0 {
		return nil
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(input, &s); err != nil {
		return refuse(tool.Invalid, "/input_schema", "expected a JSON object")
	}
	declared := make(map[string]bool, len(v.Inputs))
	for _, in := range v.Inputs {
		declared[in.Name] = true
		if in.Required && !slices.Contains(s.Required, in.Name) {
			return refuse(tool.Invalid, "/input_schema/required",
				"version %s of artifact %q requires the input %q, and the tool's schema does not", v.Number, a.Slug, in.Name)
		}
	}
	for name := range s.Properties {
		if !declared[name] {
			return refuse(tool.Invalid, "/input_schema/properties", "version %s of artifact %q takes no input %.64q", v.Number,
				a.Slug, name)
		}
	}
	return nil
}

// schemaOf derives the input schema of a tool from what its program declares.
func schemaOf(inputs []tool.ArtifactInput) (json.RawMessage, error) {
	type property struct {
		Type        string `json:"type,omitempty"`
		Description string `json:"description,omitempty"`
	}
	properties, required := make(map[string]property, len(inputs)), []string{}
	for _, in := range inputs {
		properties[in.Name] = property{in.Type, in.Description}
		if in.Required {
			required = append(required, in.Name)
		}
	}
	raw, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	if err != nil {
		return nil, fmt.Errorf("deriving the input schema: %w", err)
	}
	return raw, nil
}

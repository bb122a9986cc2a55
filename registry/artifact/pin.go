package artifact

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Pin pins in a tool the version of the artifact that it names, and derives the
// input schema where the tool has none. A tool that names no artifact loses its
// pin. It fails with tool.NotFound for an artifact or a version that does not
// exist, and with tool.Invalid for a malformed constraint; the tool has no pin
// then.
func (r *Registry) Pin(ctx context.Context, t *tool.Tool) error {
	t.Artifact = nil
	if t.ArtifactID == "" {
		return nil
	}
	pin, inputs, err := r.pinOf(ctx, t)
	if err != nil {
		return err
	}
	t.Artifact = pin
	if len(t.InputSchema) == 0 && len(inputs) > 0 {
		if t.InputSchema, err = schemaOf(inputs); err != nil {
			return err
		}
		t.Interaction.OpenInput = len(schema.LoosePlaces(t.InputSchema)) > 0 // The program declares no more.
	}
	return nil
}

// pinOf returns the version of the artifact that a tool asks for: the highest
// that meets its constraint.
func (r *Registry) pinOf(ctx context.Context, t *tool.Tool) (*tool.ArtifactPin, []tool.ArtifactInput, error) {
	if t.Global() {
		return nil, nil, refusal.New(tool.Invalid, "/artifact_id",
			"artifacts belong to tenants: a tool of the platform has its program in implementation_config")
	}
	want, err := parseConstraint(t.ArtifactVersion)
	if err != nil {
		return nil, nil, err
	}
	a, err := r.store.FindArtifact(ctx, t.Tenant, t.ArtifactID)
	if tool.KindOf(err) == tool.NotFound {
		return nil, nil, refusal.New(tool.NotFound, "/artifact_id", "artifact %.64q not found: upload it first", t.ArtifactID)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("finding artifact %q: %w", t.ArtifactID, err)
	}
	versions, err := r.store.ListArtifactVersions(ctx, t.Tenant, a.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the versions of artifact %q: %w", a.Slug, err)
	}
	var best *Version
	var highest *semver.Version
	for i := range versions {
		n, err := semver.StrictNewVersion(versions[i].Number)
		if err == nil && want(n) && (highest == nil || n.GreaterThan(highest)) {
			best, highest = &versions[i], n
		}
	}
	switch {
	case len(versions) == 0:
		return nil, nil, refusal.New(tool.NotFound, "/artifact_version", "artifact %q has no version yet: upload one", a.Slug)
	case best == nil:
		return nil, nil, refusal.New(tool.NotFound, "/artifact_version",
			"no version of artifact %q meets %.40q: the newest is %s",
			a.Slug, t.ArtifactVersion, a.Version)
	}
	return &tool.ArtifactPin{ID: a.ID, Version: best.Number, Digest: best.Digest}, best.Inputs, nil
}

// parseConstraint returns a function that reports whether a version
// satisfies the constraint. Without a constraint, every release does;
// prereleases do only where the constraint names one.
func parseConstraint(text string) (func(*semver.Version) bool, error) {
	if text == "" {
		return func(n *semver.Version) bool { return n.Prerelease() == "" }, nil
	}
	rules, err := semver.NewConstraint(text)
	if err != nil || len(text) > 128 {
		return nil, refusal.New(tool.Invalid, "/artifact_version",
			"version constraint %.40q: expected an exact version such as 1.2.0, a range such as ^1.2, or none", text)
	}
	return rules.Check, nil
}

// checkFits refuses an input schema that lets through what the program refuses:
// a call without a required input, or with an argument that it does not take.
func checkFits(input json.RawMessage, a *Artifact, v *Version) error {
	if len(v.Inputs) == 0 {
		return nil
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(input, &s); err != nil {
		return refusal.New(tool.Invalid, "/input_schema", "expected a JSON object")
	}
	declared := make(map[string]bool, len(v.Inputs))
	for _, in := range v.Inputs {
		declared[in.Name] = true
		if in.Required && !slices.Contains(s.Required, in.Name) {
			return refusal.New(tool.Invalid, "/input_schema/required",
				"version %s of artifact %q requires the input %q, and the tool's schema does not", v.Number, a.Slug, in.Name)
		}
	}
	for name := range s.Properties {
		if !declared[name] {
			return refusal.New(tool.Invalid, "/input_schema/properties", "version %s of artifact %q takes no input %.64q",
				v.Number,
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

package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of artifacts.
const (
	maxArtifactName        = 200
	maxArtifactDescription = 4000
	maxArtifactVersions    = 1000
	maxArtifactInputs      = 64
)

var (
	inputName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	inputTypes = []string{"", "string", "number", "integer", "boolean", "object", "array"}
	languages  = []string{"jq", "javascript", "wasm"}
)

func (r *Registry) newArtifact(p tool.Principal, s *ArtifactSpec) (Artifact, error) {
	if err := mayWrite(p, ToolsWrite); err != nil {
		return Artifact{}, err
	}
	if !tool.ValidSlug(s.Slug) {
		return Artifact{}, refuse(
			tool.Invalid, "/slug", "slug %.80q: expected a letter, then letters, digits, _ or -, at most 64", s.Slug,
		)
	}
	if !slices.Contains(languages, s.Language) {
		return Artifact{}, refuse(tool.Invalid, "/language", "language %.40q: expected jq, javascript or wasm", s.Language)
	}
	id, err := uuid7.New()
	if err != nil {
		return Artifact{}, err
	}
	return s.edited(Artifact{ID: id, Tenant: p.Tenant, Slug: s.Slug, Language: s.Language, CreatedBy: p.Subject})
}

// edited returns a as s wants it, but for a version.
func (s *ArtifactSpec) edited(a Artifact) (Artifact, error) {
	if s.Name == "" {
		s.Name = s.Slug
	}
	if s.Status == "" {
		s.Status = ArtifactActive
	}
	switch {
	case s.Slug != a.Slug:
		return a, refuse(tool.Invalid, "/slug", "a slug cannot be changed: it is %s", a.Slug)
	case s.Language != "" && s.Language != a.Language:
		return a, refuse(
			tool.Invalid, "/language", "the language of an artifact cannot be changed: it is %s; make another artifact",
			a.Language,
		)
	case len(s.Name) > maxArtifactName:
		return a, refuse(tool.Invalid, "/name", "expected at most %d bytes", maxArtifactName)
	case len(s.Description) > maxArtifactDescription:
		return a, refuse(tool.Invalid, "/description", "expected at most %d bytes", maxArtifactDescription)
	case s.Status != ArtifactActive && s.Status != ArtifactDeprecated && s.Status != ArtifactDisabled:
		return a, refuse(tool.Invalid, "/status", "status %.40q: expected active, deprecated or disabled", s.Status)
	}
	a.Name, a.Description, a.Status = s.Name, s.Description, s.Status
	return a, refuseChanged("artifact", a.Slug, a.Revision, s.Revision)
}

func (u *ArtifactUpload) holdsProgram() bool { return u.Source != "" || len(u.Content) > 0 }

// artifactRelease is a version as it would be added.
type artifactRelease struct {
	version ArtifactVersion
	program []byte
	stands  bool // It is there already.
}

// release judges an upload to an artifact that has the given versions.
func (r *Registry) release(
	ctx context.Context, a *Artifact, versions []ArtifactVersion, u ArtifactUpload,
) (*artifactRelease, error) {
	program := u.Content
	switch {
	case u.Source != "" && len(u.Content) > 0:
		return nil, refuse(tool.Invalid, "/content_base64",
			"source and content_base64 are the same program: expected one of them")
	case u.Source != "":
		program = []byte(u.Source)
	case len(u.Content) == 0:
		return nil, refuse(tool.Invalid, "/source", "expected the program: as text in source, or in base64 in content_base64")
	}
	if err := checkInputs(u.Inputs); err != nil {
		return nil, err
	}
	if check := r.opts.Artifacts.CheckProgram; check != nil {
		if err := check(a.Language, program); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(program)
	v := ArtifactVersion{Number: u.Version, Digest: hex.EncodeToString(sum[:]), Size: len(program), Inputs: u.Inputs}
	stands, err := v.number(versions)
	if err != nil || stands {
		return &artifactRelease{v, program, stands}, err
	}
	if compile := r.opts.Artifacts.Compile; compile != nil {
		if err := compile(ctx, a.Tenant, a.Language, program); err != nil {
			return nil, err
		}
	}
	return &artifactRelease{version: v, program: program}, nil
}

// number gives v its number, beside the versions that there are, newest first.
// It reports whether v stands already, and is it then.
func (v *ArtifactVersion) number(versions []ArtifactVersion) (stands bool, err error) {
	var highest *semver.Version
	for _, have := range versions {
		n, err := semver.StrictNewVersion(have.Number)
		if err != nil {
			return false, fmt.Errorf("reading version %q: %w", have.Number, err)
		}
		if highest == nil || n.GreaterThan(highest) {
			highest = n
		}
	}
	if v.Number == "" {
		if len(versions) > 0 && v.same(&versions[0]) {
			*v = versions[0]
			return true, nil
		}
		v.Number = FirstVersion
		if highest != nil {
			next := highest.IncPatch()
			v.Number = next.String()
		}
	}
	n, err := parseVersion(v.Number)
	if err != nil {
		return false, err
	}
	if i := slices.IndexFunc(versions, func(have ArtifactVersion) bool { return have.Number == v.Number }); i >= 0 {
		if !v.same(&versions[i]) {
			next := highest.IncPatch()
			return false, refuse(
				tool.Conflict, "/version", "version %s exists with other content: the change needs a new number, at least %s",
				v.Number, next.String(),
			)
		}
		*v = versions[i]
		return true, nil
	}
	switch {
	case highest != nil && !n.GreaterThan(highest):
		next := highest.IncPatch()
		return false, refuse(tool.Conflict, "/version", "version %s: expected more than the last, %s: at least %s", v.Number,
			highest, next.String())
	case len(versions) >= maxArtifactVersions:
		return false, refuse(
			tool.Conflict, "", "the artifact has %d versions, as many as one may have: make another artifact", len(versions),
		)
	}
	return false, nil
}

func (v *ArtifactVersion) same(other *ArtifactVersion) bool {
	return v.Digest == other.Digest && slices.Equal(v.Inputs, other.Inputs)
}

// checkInputs refuses declarations that no schema could be made of.
func checkInputs(inputs []tool.ArtifactInput) error {
	if len(inputs) > maxArtifactInputs {
		return refuse(tool.Invalid, "/inputs", "%d inputs: expected at most %d", len(inputs), maxArtifactInputs)
	}
	seen := make(map[string]bool, len(inputs))
	for i, in := range inputs {
		at := fmt.Sprintf("/inputs/%d", i)
		switch {
		case !inputName.MatchString(in.Name):
			return refuse(
				tool.Invalid, at+"/name", "name %.80q: expected a letter or _, then letters, digits, _ or -, at most 64", in.Name,
			)
		case seen[in.Name]:
			return refuse(tool.Invalid, at+"/name", "input %q is declared twice", in.Name)
		case !slices.Contains(inputTypes, in.Type):
			return refuse(
				tool.Invalid, at+"/type",
				"type %.40q: expected string, number, integer, boolean, object or array, or none for any", in.Type,
			)
		case len(in.Description) > maxArtifactDescription:
			return refuse(tool.Invalid, at+"/description", "expected at most %d bytes", maxArtifactDescription)
		}
		seen[in.Name] = true
	}
	return nil
}

package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of artifacts.
const (
	maxName        = 200
	maxDescription = 4000
	maxVersions    = 1000
	maxInputs      = 64
)

var (
	inputName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	inputTypes = []string{"", "string", "number", "integer", "boolean", "object", "array"}
	languages  = []string{"jq", "javascript", "wasm"}
	statuses   = []definition.ArtifactStatus{
		definition.ArtifactActive, definition.ArtifactDeprecated, definition.ArtifactDisabled,
	}
)

// upload is the version that an uploaded program becomes.
type upload struct {
	version Version
	program []byte
	exists  bool // Whether the artifact has that version already.
}

// check returns the version that an upload to an artifact with the given versions
// becomes. It fails with tool.Invalid for a malformed upload, and with
// tool.Conflict for a version number that is taken or too low.
func (r *Registry) check(
	ctx context.Context, a *Artifact, versions []Version, u definition.ArtifactUpload,
) (*upload, error) {
	program := u.Content
	switch {
	case u.Source != "" && len(u.Content) > 0:
		return nil, refusal.New(tool.Invalid, "/content_base64",
			"source and content_base64 are the same program: expected one of them")
	case u.Source != "":
		program = []byte(u.Source)
	case len(u.Content) == 0:
		return nil, refusal.New(tool.Invalid, "/source",
			"expected the program: as text in source, or in base64 in content_base64")
	}
	if err := checkInputs(u.Inputs); err != nil {
		return nil, err
	}
	if check := r.rules.CheckProgram; check != nil {
		if err := check(a.Language, program); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(program)
	v := Version{Number: u.Version, Digest: hex.EncodeToString(sum[:]), Size: len(program), Inputs: u.Inputs}
	exists, err := v.number(versions)
	if err != nil || exists {
		return &upload{v, program, exists}, err
	}
	if compile := r.rules.Compile; compile != nil {
		if err := compile(ctx, a.Tenant, a.Language, program); err != nil {
			return nil, err
		}
	}
	return &upload{version: v, program: program}, nil
}

// checkInputs fails for input declarations from which no schema can be derived.
func checkInputs(inputs []tool.ArtifactInput) error {
	if len(inputs) > maxInputs {
		return refusal.New(tool.Invalid, "/inputs", "%d inputs: expected at most %d", len(inputs), maxInputs)
	}
	seen := make(map[string]bool, len(inputs))
	for i, in := range inputs {
		at := fmt.Sprintf("/inputs/%d", i)
		switch {
		case !inputName.MatchString(in.Name):
			return refusal.New(
				tool.Invalid, at+"/name", "name %.80q: expected a letter or _, then letters, digits, _ or -, at most 64", in.Name,
			)
		case seen[in.Name]:
			return refusal.New(tool.Invalid, at+"/name", "input %q is declared twice", in.Name)
		case !slices.Contains(inputTypes, in.Type):
			return refusal.New(
				tool.Invalid, at+"/type",
				"type %.40q: expected string, number, integer, boolean, object or array, or none for any", in.Type,
			)
		case len(in.Description) > maxDescription:
			return refusal.New(tool.Invalid, at+"/description", "expected at most %d bytes", maxDescription)
		}
		seen[in.Name] = true
	}
	return nil
}

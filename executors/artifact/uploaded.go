package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Programs loads uploaded programs. Package store implements it.
type Programs interface {
	// LoadArtifact returns a version of a tenant's artifact. It fails with
	// [tool.NotFound] for another tenant's.
	LoadArtifact(ctx context.Context, tenant tool.TenantID, artifactID, version string) (tool.ArtifactCode, error)
}

// uploaded returns the program that a tool's version pins, verified by its digest
// and cached. Admission has checked that it may run now.
func (e *Executor) uploaded(
	ctx context.Context, tenant tool.TenantID, pin tool.ArtifactPin, config json.RawMessage,
) (*program, error) {
	key := pin.ID + "\x00" + pin.Version + "\x00" + pin.Digest
	p := e.programs.get(tenant, key)
	if p == nil {
		if e.opts.Programs == nil {
			return nil, &tool.Error{
				Kind: tool.Unavailable, Op: "artifact.Execute", Msg: "this worker cannot load uploaded programs",
			}
		}
		code, err := e.opts.Programs.LoadArtifact(ctx, tenant, pin.ID, pin.Version)
		if err != nil {
			return nil, fmt.Errorf("loading the tool's artifact: %w", err)
		}
		if sum := sha256.Sum256(code.Content); hex.EncodeToString(sum[:]) != pin.Digest {
			return nil, &tool.Error{
				Kind: tool.Conflict, Op: "artifact.Execute",
				Msg: fmt.Sprintf("version %s of the tool's artifact has another digest than the tool pins", pin.Version),
			}
		}
		p = &program{language: sandbox.Language(code.Language), code: code.Content, inputs: code.Inputs}
		e.programs.put(tenant, key, p, len(code.Content))
	}
	limits, err := readLimits(config)
	if err != nil {
		return nil, malformed(err)
	}
	limited := *p // The cached program is shared by all tools.
	limited.limits = limits
	return &limited, nil
}

// checkInputs refuses arguments that the program does not declare, and calls
// without a required one.
func checkInputs(inputs []tool.ArtifactInput, given map[string]json.RawMessage) error {
	if len(inputs) == 0 {
		return nil
	}
	declared := make(map[string]bool, len(inputs))
	for _, in := range inputs {
		declared[in.Name] = true
		value, ok := given[in.Name]
		switch {
		case !ok && in.Required:
			return badArgument(in.Name, fmt.Sprintf("the artifact requires input %q", in.Name))
		case ok && !fits(in.Type, value):
			return badArgument(in.Name, fmt.Sprintf("the artifact's input %q must be of type %s", in.Name, in.Type))
		}
	}
	for name := range given {
		if !declared[name] {
			return badArgument(name, fmt.Sprintf("the artifact has no input %.64q", name))
		}
	}
	return nil
}

func badArgument(name, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "artifact.Execute", Path: "/" + jsonpointer.Escape(name), Msg: msg}
}

// fits reports whether a value is of a declared type.
func fits(want string, value json.RawMessage) bool {
	value = bytes.TrimSpace(value)
	if want == "" || len(value) == 0 {
		return true
	}
	switch first := value[0]; want {
	case "string":
		return first == '"'
	case "object":
		return first == '{'
	case "array":
		return first == '['
	case "boolean":
		return first == 't' || first == 'f'
	case "number":
		return first == '-' || first >= '0' && first <= '9'
	case "integer":
		return isInteger(string(value))
	default:
		return true
	}
}

// isInteger reports whether a number is an integer by JSON Schema: 2.0 is.
func isInteger(text string) bool {
	if text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	if strings.ContainsAny(text, "eE") {
		f, err := strconv.ParseFloat(text, 64)
		return err == nil && f == math.Trunc(f)
	}
	_, fraction, _ := strings.Cut(text, ".")
	return strings.Trim(fraction, "0") == ""
}

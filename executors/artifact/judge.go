package artifact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/tool"
)

// Size limits of uploaded programs, in bytes. For those in a tool's
// configuration, see [Config].
const (
	MaxUploadedModule = 4 << 20 // Of WebAssembly.
	MaxUploadedSource = 256 << 10
)

// Judge checks whether artifact tools and uploaded programs may be stored: their
// form, an operator's limits and, where there is a sandbox, that they compile.
// The zero Judge has the largest limits and no sandbox.
type Judge struct {
	Box Sandbox // May be nil.
	// Max bounds a tool's limits. Zero fields default to [sandbox.MaxLimits].
	Max sandbox.Limits
	// MaxProgram bounds programs in bytes, in addition to their language's own
	// limit; zero for that alone.
	MaxProgram int
}

// most returns the effective limits.
func (j Judge) most() sandbox.Limits {
	m := sandbox.MaxLimits
	return sandbox.Limits{
		Time: cmp.Or(j.Max.Time, m.Time), Memory: cmp.Or(j.Max.Memory, m.Memory), Output: cmp.Or(j.Max.Output, m.Output),
	}
}

// CheckConfig checks an artifact tool's configuration. It fails with
// [tool.Invalid] and the JSON Pointer of the fault. It does not compile the
// program: see [Judge.Compile].
func (j Judge) CheckConfig(raw json.RawMessage) error {
	p, err := read(raw)
	if err != nil {
		return err
	}
	if err := j.checkSize("/source", p.language, len(p.code), p.language.MaxProgram()); err != nil {
		return err
	}
	return j.checkLimits(p.limits)
}

// CheckUploaded is [Judge.CheckConfig] for a tool with an uploaded program,
// whose configuration holds only limits.
func (j Judge) CheckUploaded(raw json.RawMessage) error {
	limits, err := readLimits(raw)
	if err != nil {
		return err
	}
	return j.checkLimits(limits)
}

// CheckProgram checks the language and form of a program before it is uploaded.
func (j Judge) CheckProgram(language string, program []byte) error {
	l := sandbox.Language(language)
	most, at := min(l.MaxProgram(), MaxUploadedSource), "/source"
	if l == sandbox.WASM {
		most, at = MaxUploadedModule, "/content_base64"
		if !bytes.HasPrefix(program, wasmModule) {
			return fault(at, "not a WebAssembly module of version 1")
		}
	}
	return j.checkSize(at, l, len(program), most)
}

// Compile compiles the program of a configuration, for a tenant, without running
// it. A program that does not compile fails with [tool.Invalid] and a Path; any
// other error means that the check could not run. Without a sandbox it passes.
func (j Judge) Compile(ctx context.Context, tenant tool.TenantID, config json.RawMessage) error {
	p, err := read(config)
	if err != nil {
		return err
	}
	return j.compile(ctx, tenant, p.language, p.code, p.limits.Memory)
}

// CompileProgram is [Judge.Compile] for a program before it is uploaded, with the
// largest memory limit: the tools that will run it are not known yet.
func (j Judge) CompileProgram(ctx context.Context, tenant tool.TenantID, language string, program []byte) error {
	return j.compile(ctx, tenant, sandbox.Language(language), program, j.most().Memory)
}

// CompileUploaded is [Judge.Compile] for an uploaded program, within the limits
// of a tool that runs it.
func (j Judge) CompileUploaded(
	ctx context.Context, tenant tool.TenantID, language string, program []byte, config json.RawMessage,
) error {
	limits, err := readLimits(config)
	if err != nil {
		return err
	}
	return j.compile(ctx, tenant, sandbox.Language(language), program, limits.Memory)
}

// compile compiles a program within a memory limit; zero for the default of
// calls. The sandbox bounds the time: a program's own time limit is for calls,
// which usually find it compiled.
func (j Judge) compile(
	ctx context.Context, tenant tool.TenantID, language sandbox.Language, program []byte, memory int64,
) error {
	if j.Box == nil {
		return nil
	}
	_, err := j.Box.Run(ctx, sandbox.Job{
		Tenant: tenant, Language: language, Program: program, Input: json.RawMessage("null"),
		Limits: sandbox.Limits{Memory: memory}, Check: true,
	})
	if e, ok := errors.AsType[*sandbox.ProgramError](err); ok {
		return &tool.Error{Kind: tool.Invalid, Op: "artifact.Compile", Path: "/source", Msg: e.Msg}
	}
	return err
}

func (j Judge) checkSize(at string, language sandbox.Language, size, most int) error {
	if j.MaxProgram > 0 {
		most = min(most, j.MaxProgram)
	}
	if size > most {
		return fault(at, fmt.Sprintf("the program has %d bytes; the limit for %s is %d here", size, language, most))
	}
	return nil
}

// checkLimits refuses limits above the operator's.
func (j Judge) checkLimits(asked sandbox.Limits) error {
	if names := j.beyond(asked); len(names) > 0 {
		return fault("/limits/"+names[0].name, names[0].String())
	}
	return nil
}

// excess is a limit above the operator's.
type excess struct {
	name        string
	class       sandbox.Class // Of a program that exceeds it.
	asked, most int64
}

// String describes the excess with both numbers.
func (e excess) String() string {
	return fmt.Sprintf("%s is %d: the operator allows %d", e.name, e.asked, e.most)
}

// beyond lists the limits above the operator's.
func (j Judge) beyond(asked sandbox.Limits) []excess {
	most := j.most()
	var out []excess
	for _, e := range []excess{
		{"time_ms", sandbox.OverTime, asked.Time.Milliseconds(), most.Time.Milliseconds()},
		{"memory_mb", sandbox.OverSpace, asked.Memory / mib, most.Memory / mib},
		{"output_kb", sandbox.OverSize, asked.Output / kib, most.Output / kib},
	} {
		if e.asked > e.most {
			out = append(out, e)
		}
	}
	return out
}

// explain adds to a program's error that the operator's limit applied, not the
// one in its tool's configuration.
func (j Judge) explain(e *sandbox.ProgramError, asked sandbox.Limits) string {
	text := string(e.Class) + ": " + e.Msg
	all := j.beyond(asked)
	if i := slices.IndexFunc(all, func(over excess) bool { return over.class == e.Class }); i >= 0 {
		return text + " (" + all[i].String() + ")"
	}
	return text
}

// uploadedConfig is the implementation_config of a tool with an uploaded
// program. A type is allowed and ignored: artifact_id decides.
type uploadedConfig struct {
	Type   tool.Implementation `json:"type,omitempty"`
	Limits Limits              `json:"limits,omitzero"`
}

// readLimits parses the configuration of a tool with an uploaded program.
func readLimits(raw json.RawMessage) (sandbox.Limits, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return sandbox.Limits{}, nil
	}
	var c uploadedConfig
	if err := decodeConfig(raw, &c); err != nil {
		return sandbox.Limits{}, err
	}
	return c.Limits.read()
}

// decodeConfig parses a configuration and refuses unknown members.
func decodeConfig(raw json.RawMessage, into any) error {
	if err := strict.Decode("artifact.CheckConfig", raw, into); errors.Is(err, io.EOF) {
		return fault("", "expected an object")
	} else if err != nil {
		return err
	}
	return nil
}

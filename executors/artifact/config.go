package artifact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// Config is the implementation_config of an artifact tool.
type Config struct {
	// Type may repeat the implementation type, "artifact".
	Type tool.Implementation `json:"type,omitempty"`
	// Language is jq, javascript or wasm. Required.
	Language sandbox.Language `json:"language"`
	// Source is the program: a filter of up to 64 KiB, a module of up to 1 MiB
	// whose default export is a function of the arguments, or, in base64, a
	// WASI command of up to 8 MiB that reads them from its standard input.
	Source string `json:"source"`
	// Limits bound each call.
	Limits Limits `json:"limits,omitzero"`
}

// Limits bound a call of an artifact tool. Zero stands for the default.
type Limits struct {
	// TimeMS bounds the run time of the program, in milliseconds, including its
	// compilation unless that is cached; 2000 when zero, at most 30000.
	TimeMS int64 `json:"time_ms,omitempty"`
	// MemoryMB bounds the sandbox process, in MiB, of which the program has
	// about half; 320 when zero, 224 to 1024.
	MemoryMB int64 `json:"memory_mb,omitempty"`
	// OutputKB bounds the result, and separately the printed text, in KiB; 1024
	// when zero, at most 8192.
	OutputKB int64 `json:"output_kb,omitempty"`
}

const (
	mib = 1 << 20
	kib = 1 << 10
)

// program is a parsed configuration.
type program struct {
	language sandbox.Language
	code     []byte
	limits   sandbox.Limits
	inputs   []tool.ArtifactInput // Of an uploaded program that declares some.
}

// read parses a configuration.
func read(raw json.RawMessage) (*program, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, fault("/language", wantLanguage)
	}
	var c Config
	if err := decodeConfig(raw, &c); err != nil {
		return nil, err
	}
	return c.program()
}

const wantLanguage = "want the language of the program: jq, javascript or wasm"

func (c *Config) program() (*program, error) {
	switch {
	case c.Type != "" && c.Type != tool.Artifact:
		return nil, fault("/type", fmt.Sprintf("%.40q is not artifact", c.Type))
	case c.Language == "":
		return nil, fault("/language", wantLanguage)
	case !slices.Contains(sandbox.Languages(), c.Language):
		return nil, fault("/language", fmt.Sprintf("%.40q is unknown: %s", c.Language, wantLanguage))
	case strings.TrimSpace(c.Source) == "":
		return nil, fault("/source", "want the program")
	}
	code, err := c.code()
	if err != nil {
		return nil, err
	}
	limits, err := c.Limits.read()
	if err != nil {
		return nil, err
	}
	return &program{language: c.Language, code: code, limits: limits}, nil
}

// wasmModule is the header of every WebAssembly module that is not a component:
// the magic number, and version 1.
var wasmModule = []byte("\x00asm\x01\x00\x00\x00")

// code returns the program's bytes.
func (c *Config) code() ([]byte, error) {
	code, most := []byte(c.Source), c.Language.MaxProgram()
	if c.Language == sandbox.WASM {
		var err error
		if code, err = base64.StdEncoding.DecodeString(c.Source); err != nil {
			return nil, fault("/source", "want the module in base64: "+err.Error())
		}
		if !bytes.HasPrefix(code, wasmModule) {
			return nil, fault("/source", "the decoded bytes are not a WebAssembly module of version 1")
		}
	}
	if len(code) > most {
		return nil, fault(
			"/source", fmt.Sprintf("the program has %d bytes; the limit for %s is %d", len(code), c.Language, most),
		)
	}
	return code, nil
}

// read returns the limits as the sandbox takes them.
func (l Limits) read() (sandbox.Limits, error) {
	most := sandbox.MaxLimits
	for _, f := range []struct {
		name               string
		value, least, most int64
	}{
		{"time_ms", l.TimeMS, 1, most.Time.Milliseconds()},
		{"memory_mb", l.MemoryMB, sandbox.MinMemory / mib, most.Memory / mib},
		{"output_kb", l.OutputKB, 1, most.Output / kib},
	} {
		if f.value != 0 && (f.value < f.least || f.value > f.most) {
			return sandbox.Limits{}, fault(
				"/limits/"+f.name, fmt.Sprintf("%s is %d: want %d to %d, or 0 for the default", f.name, f.value, f.least, f.most),
			)
		}
	}
	return sandbox.Limits{
		Time: time.Duration(l.TimeMS) * time.Millisecond, Memory: l.MemoryMB * mib, Output: l.OutputKB * kib,
	}, nil
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "artifact.CheckConfig", Path: path, Msg: msg}
}

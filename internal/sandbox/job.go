package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Language says which engine runs a program.
type Language string

// Languages.
const (
	JQ         Language = "jq"         // A filter, as gojq has it.
	JavaScript Language = "javascript" // An ES2023 module whose default export is a function of the input.
	WASM       Language = "wasm"       // A WASI command: input on its standard input, output on its standard output.
)

// Languages lists every language.
func Languages() []Language { return []Language{JQ, JavaScript, WASM} }

// MaxProgram is how large a program in l may be, in bytes.
func (l Language) MaxProgram() int {
	switch l {
	case JQ:
		return 64 << 10
	case JavaScript:
		return 1 << 20
	case WASM:
		return 8 << 20
	case PDF:
		return 0 // There is none.
	default:
		return 0
	}
}

// Bounds that hold for every language.
const (
	MaxInput = 4 << 20 // Bytes of JSON.
	MaxDepth = 128     // Levels of the input and of the output.
)

// Limits bound one run of a program. Zero fields take the defaults; an operator
// may lower the largest values, see [Config.Max].
type Limits struct {
	// Time is how long it may run, on the clock, its compilation included.
	Time time.Duration `json:"time"`
	// Memory bounds the child process, in bytes: what is beyond is collected, or
	// refused by the engine. The kernel ends the process 128 MiB above.
	Memory int64 `json:"memory"`
	// Output bounds its result, in bytes of JSON, and apart from that what it
	// prints.
	Output int64 `json:"output"`
}

// DefaultLimits and MaxLimits are the limits where none are given, and the
// largest allowed.
var (
	DefaultLimits = Limits{Time: 2 * time.Second, Memory: 320 << 20, Output: 1 << 20}
	MaxLimits     = Limits{Time: 30 * time.Second, Memory: 1 << 30, Output: 8 << 20}
)

// MinMemory is what a child needs at all: what Go and a large binary reserve, and a
// little to work with.
const MinMemory = 224 << 20

// Reserve is how much more than a program's memory the kernel grants its process,
// in bytes. The kernel counts what Go has mapped, also where programs have given
// it back, compiled programs that are kept, and stacks that wait for the end of a
// collection: without it, the program before, or a busy machine, would decide
// what fits. A process that keeps more than this is replaced.
const Reserve = 128 << 20

// Within returns l with defaults filled in and nothing above most.
func (l Limits) Within(most Limits) Limits {
	pick := func(given, otherwise, most int64) int64 {
		if given <= 0 {
			given = otherwise
		}
		return min(given, most)
	}
	return Limits{
		Time:   time.Duration(pick(int64(l.Time), int64(DefaultLimits.Time), int64(most.Time))),
		Memory: max(MinMemory, pick(l.Memory, DefaultLimits.Memory, most.Memory)),
		Output: pick(l.Output, DefaultLimits.Output, most.Output),
	}
}

// flood is how much a program may print before it is ended. What it prints
// beyond Output, and below that, is dropped.
func (l Limits) flood() int64 { return 4*l.Output + 1<<20 }

// Job is one run of a program.
type Job struct {
	Tenant   tool.TenantID
	Language Language
	Program  []byte
	Input    json.RawMessage
	Limits   Limits
	// Check has the program compiled, and not run.
	Check bool
	// Print receives what the program prints, as it comes, up to Limits.Output.
	// May be nil. It must not block.
	Print func(text string)
}

// digest names the program to a child that may know it already.
func (j *Job) digest() string {
	sum := sha256.Sum256(append([]byte(j.Language+"\x00"), j.Program...))
	return hex.EncodeToString(sum[:])
}

func (j *Job) check(maxProgram int) error {
	if j.Language == PDF {
		return j.checkPDF()
	}
	most := j.Language.MaxProgram()
	if maxProgram > 0 {
		most = min(most, maxProgram)
	}
	switch {
	case most == 0:
		return &ProgramError{Class: Malformed, Msg: fmt.Sprintf("there is no language %q", j.Language)}
	case len(j.Program) > most:
		return &ProgramError{
			Class: Malformed,
			Msg:   fmt.Sprintf("the program has %d bytes; a program in %s may have %d", len(j.Program), j.Language, most),
		}
	case len(j.Input) > MaxInput:
		return &ProgramError{
			Class: BadInput, Msg: fmt.Sprintf("the input has %d bytes; it may have %d", len(j.Input), MaxInput),
		}
	case !j.Check && !withinDepth(j.Input):
		return &ProgramError{Class: BadInput, Msg: fmt.Sprintf("the input is nested more than %d levels deep", MaxDepth)}
	}
	return nil
}

// withinDepth reports whether JSON is nested at most [MaxDepth] levels deep.
func withinDepth(raw []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

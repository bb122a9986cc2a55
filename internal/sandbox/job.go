package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Language is the language of a program, and its engine.
type Language string

// Languages.
const (
	JQ         Language = "jq"         // A filter of gojq.
	JavaScript Language = "javascript" // An ES2023 module whose default export is a function of the input.
	WASM       Language = "wasm"       // A WASI command: input on its standard input, output on its standard output.
)

// Languages lists every language.
func Languages() []Language { return []Language{JQ, JavaScript, WASM} }

// MaxProgram is the maximum size of a program in l, in bytes.
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

// Bounds for every language.
const (
	MaxInput = 4 << 20 // Bytes of JSON.
	MaxDepth = 128     // Levels of the input and of the output.
)

// Limits bound one run of a program. Zero fields have defaults; an operator may lower the
// maximum, see [Config.Max].
type Limits struct {
	// Time is the wall-clock time, including compilation.
	Time time.Duration `json:"time"`
	// Memory bounds the child process, in bytes: garbage is collected beyond it, or
	// the engine refuses. The kernel kills the process 128 MiB above.
	Memory int64 `json:"memory"`
	// Output bounds the result, in bytes of JSON, and separately the printed text.
	Output int64 `json:"output"`
}

// DefaultLimits and MaxLimits are the default and the maximum limits.
var (
	DefaultLimits = Limits{Time: 2 * time.Second, Memory: 320 << 20, Output: 1 << 20}
	MaxLimits     = Limits{Time: 30 * time.Second, Memory: 1 << 30, Output: 8 << 20}
)

// MinMemory is the minimum for a child: the reservation of Go and a large binary, and some
// working memory.
const MinMemory = 224 << 20

// Reserve is the memory that the kernel grants a process beyond the program's limit, in
// bytes. The kernel counts all mapped memory, including what programs have freed, cached
// compiled programs, and garbage stacks: without the reserve, earlier programs or a busy
// machine would change what fits. A process that keeps more than this is replaced.
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

// flood is the printed text at which a program is ended. Text between Output and this limit
// is dropped.
func (l Limits) flood() int64 { return 4*l.Output + 1<<20 }

// Job is one run of a program.
type Job struct {
	Tenant   tool.TenantID
	Language Language
	Program  []byte
	Input    json.RawMessage
	Limits   Limits
	// Check compiles the program without running it.
	Check bool
	// Print receives printed text as it arrives, up to Limits.Output. May be nil. It
	// must not block.
	Print func(text string)
}

// digest identifies the program in the child's cache.
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
			Msg:   fmt.Sprintf("the program has %d bytes; the limit for %s is %d", len(j.Program), j.Language, most),
		}
	case len(j.Input) > MaxInput:
		return &ProgramError{
			Class: BadInput, Msg: fmt.Sprintf("the input has %d bytes; the limit is %d", len(j.Input), MaxInput),
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

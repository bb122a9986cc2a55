package operator

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/worker"
)

// sandboxVariables begin the variables that say what the flags do.
const sandboxVariables = "TOOLCRIB_SANDBOX_"

// SandboxFlags say the most that programs in the sandbox may have. Commands that
// run or publish programs share them.
type SandboxFlags struct {
	time                              time.Duration
	memory, output, program, children int
}

// sandboxFlag is one of the numbers, with its variable.
type sandboxFlag struct {
	name, variable, usage string
	into                  *int
}

func (f *SandboxFlags) numbers() []sandboxFlag {
	return []sandboxFlag{
		{"sandbox-memory-mb", "MEMORY_MB", "most memory of a process that runs programs, in MiB, 224 to 1024", &f.memory},
		{"sandbox-output-kb", "OUTPUT_KB", "most that a program may answer, and print, in KiB, at most 8192", &f.output},
		{"sandbox-program-kb", "PROGRAM_KB", "largest program, in KiB, at most 8192 (default: by its language)", &f.program},
		{
			"sandbox-children", "CHILDREN",
			"how many processes run programs at once, at most 256 (default: two for each processor)", &f.children,
		},
	}
}

// Register adds the flags to a command.
func (f *SandboxFlags) Register(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.time, "sandbox-time", 0,
		"longest that a program may run, at most 30s ("+sandboxVariables+"TIME)")
	for _, n := range f.numbers() {
		cmd.Flags().IntVar(n.into, n.name, 0, n.usage+" ("+sandboxVariables+n.variable+")")
	}
}

// Limits returns what the flags ask for, and the variables where no flag does.
func (f *SandboxFlags) Limits(getenv func(string) string) (worker.SandboxLimits, error) {
	if text := getenv(sandboxVariables + "TIME"); f.time == 0 && text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return worker.SandboxLimits{}, cli.Usagef("%sTIME %q is no duration: expected one such as 5s", sandboxVariables,
				text)
		}
		f.time = d
	}
	for _, n := range f.numbers() {
		if text := getenv(sandboxVariables + n.variable); *n.into == 0 && text != "" {
			value, err := strconv.Atoi(text)
			if err != nil {
				return worker.SandboxLimits{}, cli.Usagef("%s%s %q is no number", sandboxVariables, n.variable, text)
			}
			*n.into = value
		}
	}
	out := worker.SandboxLimits{
		Time: f.time, Memory: int64(f.memory) << 20, Output: int64(f.output) << 10, Program: f.program << 10,
		Children: f.children,
	}
	if err := out.Validate(); err != nil {
		return out, cli.Usagef("%s", fmt.Sprintf("the sandbox's limits: %v", err))
	}
	return out, nil
}

package sandbox

import (
	"fmt"
	"os"
	"syscall"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// prSetNoNewPrivs is PR_SET_NO_NEW_PRIVS of prctl(2).
const prSetNoNewPrivs = 38

// fence takes from the process what no engine needs: more memory than any job
// may have, files, core dumps, and rights that another binary would bring.
func fence() error {
	if err := closeInherited(); err != nil {
		return err
	}
	most := dataLimit(sandbox.MaxLimits.Memory)
	limits := map[int]syscall.Rlimit{
		syscall.RLIMIT_DATA:  {Cur: most, Max: most},
		syscall.RLIMIT_FSIZE: {},
		syscall.RLIMIT_CORE:  {},
	}
	for which, limit := range limits {
		if err := syscall.Setrlimit(which, &limit); err != nil {
			return fmt.Errorf("limiting the sandbox: %w", err)
		}
	}
	// A thread's rights are its own. Those that there will be are started by
	// one that has given them up; of those there are, each does nothing but Go's.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0); errno != 0 {
		return fmt.Errorf("giving up privileges: %w", errno)
	}
	return nil
}

// dataLimit is the kernel's limit for so much memory, see [sandbox.Reserve].
func dataLimit(memory int64) uint64 {
	return uint64(memory) + sandbox.Reserve //nolint:gosec // It is positive.
}

// fenceMemory bounds what the process may take for data.
func fenceMemory(memory int64) error {
	limit := syscall.Rlimit{Cur: dataLimit(memory), Max: dataLimit(sandbox.MaxLimits.Memory)}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return fmt.Errorf("limiting the sandbox's memory: %w", err)
	}
	return nil
}

func exit() { os.Exit(0) } //nolint:forbidigo // Nobody waits for anything else.

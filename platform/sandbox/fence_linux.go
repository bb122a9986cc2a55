package sandbox

import (
	"fmt"
	"os"
	"syscall"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// prSetNoNewPrivs is PR_SET_NO_NEW_PRIVS of prctl(2).
const prSetNoNewPrivs = 38

// fence restricts the process to what engines need: it limits memory to that of
// the largest job, and forbids files, core dumps and new privileges by exec.
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
	// Privileges are per thread. New threads inherit from one that has dropped
	// them; the existing ones run the Go runtime only.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0); errno != 0 {
		return fmt.Errorf("dropping privileges: %w", errno)
	}
	return nil
}

// dataLimit is the kernel's limit for this much memory, see [sandbox.Reserve].
func dataLimit(memory int64) uint64 {
	return uint64(memory) + sandbox.Reserve //nolint:gosec // It is positive.
}

// fenceMemory limits the data segment of the process.
func fenceMemory(memory int64) error {
	limit := syscall.Rlimit{Cur: dataLimit(memory), Max: dataLimit(sandbox.MaxLimits.Memory)}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return fmt.Errorf("limiting the sandbox's memory: %w", err)
	}
	return nil
}

func exit() { os.Exit(0) } //nolint:forbidigo // The parent is gone.

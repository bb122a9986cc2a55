package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// processorTime returns the processor time that a process has used, all its
// threads included. It fails for one that is gone.
func processorTime(pid int) (time.Duration, bool) {
	// CPUCLOCK_SCHED of the kernel. The clock of a process has its number,
	// inverted, above three bits.
	const schedClock = 2
	clock := uintptr(^pid<<3 | schedClock)
	var at syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&at)), //nolint:gosec // The call's form.
		0)
	return time.Duration(at.Nano()), errno == 0
}

// mappedData returns how much a process has mapped for data, in bytes: what the
// kernel counts for RLIMIT_DATA, see proc_pid_statm(5). It fails for a process
// that is gone, and where the system shows this process no others.
func mappedData(pid int) (int64, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	const data = 5 // The field's index.
	fields := bytes.Fields(raw)
	if len(fields) <= data {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[data]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// demotion is how much higher the nice value of a child with a lower priority is:
// beside one of the usual, it has about a tenth of a processor.
const demotion = 10

// ownNice is the nice value of this process, which its children begin with.
var ownNice = sync.OnceValue(func() int {
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - raw // As the system call has it.
})

// setPriority gives the child a lower priority or the usual one. It is that of
// its process group, which the child leads: so all its threads have it.
func setPriority(cmd *exec.Cmd, low bool) error {
	nice := ownNice()
	if low {
		nice = min(19, nice+demotion)
	}
	return syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, nice) //nolint:wrapcheck // It is not reported.
}

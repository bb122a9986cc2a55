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

// processorTime returns the processor time of a process, including all its threads. It
// fails if the process has ended.
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

// mappedData returns the mapped data of a process, in bytes, as the kernel counts it for
// RLIMIT_DATA, see proc_pid_statm(5). It fails for a process that has ended, and where the
// system hides other processes.
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

// demotion is added to the nice value of a child with a lower priority: it then gets about a
// tenth of a processor beside a normal one.
const demotion = 10

// ownNice is the nice value of this process, which its children inherit.
var ownNice = sync.OnceValue(func() int {
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - raw // The system call returns 20 - nice.
})

// setPriority sets the priority of the child's process group, and so of all its threads.
func setPriority(cmd *exec.Cmd, low bool) error {
	nice := ownNice()
	if low {
		nice = min(19, nice+demotion)
	}
	return syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, nice)
}

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allowed are the system calls of a child: those of Go's runtime, its pipes and
// the engines. All others fail: no files, sockets, processes, setting of clocks,
// or access to another process's memory.
var allowed = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FCNTL, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL,
	unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES,
	unix.SYS_GETTIMEOFDAY,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_MEMBARRIER, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
	unix.SYS_RESTART_SYSCALL,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_GETRUSAGE, unix.SYS_GETRANDOM, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// Offsets of the data of a system call in a filter: its number, architecture,
// and the low halves of its arguments on a little-endian machine.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
)

// prSetVMA is PR_SET_VMA of prctl(2), by which Go names its memory.
const prSetVMA = 0x53564d41

// confine restricts every thread of the process to the allowed system calls. It
// fails, and changes nothing, if the kernel does not support seccomp filters.
func confine() error {
	arch := archOf()
	if arch == 0 {
		return errors.New("there is no system call filter for this processor")
	}
	filter, err := filterOf(arch, uint32(os.Getpid())) //nolint:gosec // Process numbers have 22 bits.
	if err != nil {
		return err
	}
	program := unix.SockFprog{
		Len: uint16(len(filter)), Filter: &filter[0], //nolint:gosec // Some hundred.
	}
	stray, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program))) //nolint:gosec // The call's form.
	if errno != 0 {
		return fmt.Errorf("installing the system call filter: %w", errno)
	}
	if stray != 0 { // The call did not fail, but nothing was changed.
		return fmt.Errorf("thread %d already has another system call filter, so this one cannot apply to all threads",
			stray)
	}
	return nil
}

// filterOf assembles the filter: a system call that is not allowed fails with
// EPERM.
func filterOf(arch, pid uint32) ([]unix.SockFilter, error) {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(what uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what} }
	// unless skips the next n instructions unless the loaded value equals k.
	unless := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: n}
	}
	const (
		pass   = unix.SECCOMP_RET_ALLOW
		refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	f := []unix.SockFilter{
		load(offArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1},
		answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(offNumber),
	}
	for _, number := range allowed {
		f = append(f, unless(number, 1), answer(pass))
	}
	// clone may only create threads; Go does not use clone3.
	f = append(f, unless(unix.SYS_CLONE3, 1), answer(absent),
		unless(unix.SYS_CLONE, 4), load(offArg0),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_THREAD, Jf: 1}, answer(pass),
		answer(refuse))
	// Only its own limits, signals to itself, and names of memory.
	for number, first := range map[uint32]uint32{unix.SYS_PRLIMIT64: 0, unix.SYS_TGKILL: pid, unix.SYS_PRCTL: prSetVMA} {
		f = append(f, unless(number, 4), load(offArg0), unless(first, 1), answer(pass), answer(refuse))
	}
	f = append(f, answer(refuse))
	if len(f) > unix.BPF_MAXINSNS {
		return nil, fmt.Errorf("the filter has %d instructions", len(f))
	}
	return f, nil
}

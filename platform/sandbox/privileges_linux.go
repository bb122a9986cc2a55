package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unprivileged is the user and group id of a child of root: "nobody".
const unprivileged = 65534

// closeInherited closes the inherited descriptors except the standard streams:
// those without close-on-exec, which Go sets on all that it opens.
func closeInherited() error {
	const fewest = 1024 // Descriptors that are checked one by one.
	last := uint(fewest)
	for fd := uint(3); fd < fewest; fd++ {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		if err := unix.Close(int(fd)); err != nil {
			return fmt.Errorf("closing inherited descriptor %d: %w", fd, err)
		}
	}
	err := unix.CloseRange(last, ^uint(0)>>1&0x7fffffff, 0)
	if err != nil && err != unix.ENOSYS {
		return fmt.Errorf("closing inherited descriptors: %w", err)
	}
	return nil
}

// dropPrivileges drops root and every capability, for all threads. It fails if
// some remain, as in a user namespace that only maps root.
func dropPrivileges() error {
	for c := range uintptr(64) { // The bounding set, for a later exec; the kernel refuses unknown numbers.
		if errno := everyThread(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c); errno != 0 {
			break
		}
	}
	if os.Geteuid() == 0 || os.Getuid() == 0 {
		if err := becomeNobody(); err != nil {
			return fmt.Errorf("programs run as root: %w", err)
		}
	}
	var none [2]unix.CapUserData
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	//nolint:gosec // Its form.
	errno := everyThread(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none)))
	if errno != 0 {
		return fmt.Errorf("dropping capabilities: %w", errno)
	}
	return nil
}

func becomeNobody() error {
	if err := syscall.Setgroups([]int{}); err != nil {
		return fmt.Errorf("dropping groups: %w", err)
	}
	if err := syscall.Setresgid(unprivileged, unprivileged, unprivileged); err != nil {
		return fmt.Errorf("changing the group: %w", err)
	}
	if err := syscall.Setresuid(unprivileged, unprivileged, unprivileged); err != nil {
		return fmt.Errorf("changing the user: %w", err)
	}
	return nil
}

// everyThread makes a system call in every thread; in a binary with cgo, where Go
// can't do that, only in the current one, from which new threads inherit.
func everyThread(trap, first, second uintptr) syscall.Errno {
	_, _, errno := syscall.AllThreadsSyscall(trap, first, second, 0)
	if errno == syscall.ENOTSUP {
		_, _, errno = syscall.RawSyscall(trap, first, second, 0)
	}
	return errno
}

package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	child "github.com/toolcrib/toolcrib/platform/sandbox"
)

// attempts are system calls that nothing in a child needs, and that code that
// escaped from an engine would want.
var attempts = map[string]func() unix.Errno{
	"reads a file":      openat("/etc/passwd", unix.O_RDONLY),
	"writes a file":     openat("/tmp/toolcrib-was-here", unix.O_WRONLY|unix.O_CREAT),
	"looks at itself":   openat("/proc/self/maps", unix.O_RDONLY),
	"makes memory file": call(unix.SYS_MEMFD_CREATE, uintptr(unsafe.Pointer(&[]byte("x\x00")[0])), 0, 0),
	"socket":            call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0),
	"unix socket":       call(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0),
	"socket pair":       call(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0),
	"connect":           call(unix.SYS_CONNECT, 0, 0, 0),
	"bind":              call(unix.SYS_BIND, 0, 0, 0),
	"sends":             call(unix.SYS_SENDTO, 1, 0, 0),
	"fork":              call(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0),
	"execve":            call(unix.SYS_EXECVE, 0, 0, 0),
	"execveat":          call(unix.SYS_EXECVEAT, 0, 0, 0),
	"traces":            call(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0),
	"reads a process":   call(unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid()), 0, 0),
	"writes a process":  call(unix.SYS_PROCESS_VM_WRITEV, uintptr(os.Getppid()), 0, 0),
	"kills":             call(unix.SYS_KILL, uintptr(os.Getppid()), 0, 0),
	"kills a thread":    call(unix.SYS_TGKILL, uintptr(os.Getppid()), uintptr(os.Getppid()), 0),
	"limits another":    call(unix.SYS_PRLIMIT64, uintptr(os.Getppid()), unix.RLIMIT_CORE, 0),
	"unshares":          call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0),
	"mounts":            call(unix.SYS_MOUNT, 0, 0, 0),
	"io_uring":          call(unix.SYS_IO_URING_SETUP, 1, 0, 0),
	"bpf":               call(unix.SYS_BPF, 0, 0, 0),
	"faults":            call(unix.SYS_USERFAULTFD, 0, 0, 0),
	"keys":              call(unix.SYS_KEYCTL, 0, 0, 0),
	"sets the clock":    call(unix.SYS_CLOCK_SETTIME, 0, 0, 0),
	"dumps":             call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0),
	"lists":             call(unix.SYS_GETDENTS64, 0, 0, 0),
	"goes elsewhere":    call(unix.SYS_CHDIR, 0, 0, 0),
	"is somebody else":  call(unix.SYS_SETUID, 0, 0, 0),
	"duplicates":        call(unix.SYS_DUP, 1, 0, 0),
	"ioctl":             call(unix.SYS_IOCTL, 0, unix.TIOCSTI, 0),
}

func call(number, a, b, c uintptr) func() unix.Errno {
	return func() unix.Errno {
		_, _, errno := unix.RawSyscall(number, a, b, c)
		return errno
	}
}

func openat(path string, flags int) func() unix.Errno {
	return func() unix.Errno {
		name := append([]byte(path), 0)
		at := unix.AT_FDCWD
		_, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(&name[0])), uintptr(flags), 0o600,
			0, 0)
		return errno
	}
}

// probe is a child that tries all of them, from a new thread, and says what
// became of each.
func probe() int {
	lacks, err := child.Fence()
	if err != nil || lacks != "" {
		_, _ = fmt.Fprintln(os.Stdout, lacks, err)
		return 3
	}
	results := make(map[string]string)
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread() // Not unlocked: the thread ends with the goroutine.
		for name, try := range attempts {
			results[name] = strconv.Itoa(int(try()))
		}
	})
	done.Wait()
	for range 8 { // Threads begin and end all the same.
		done.Go(func() { runtime.LockOSThread() })
	}
	done.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		return 4
	}
	return 0
}

// What leads out of a process is refused by the kernel, in every thread.
func TestSystemCallsAreRefused(t *testing.T) {
	t.Parallel()

	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "sandbox-probe")
	cmd.Env = []string{}
	said, err := cmd.Output()
	if cmd.ProcessState.ExitCode() == 3 {
		t.Skipf("the kernel takes no filter: %s", said)
	}
	require.NoError(t, err, "%s", said)
	var results map[string]string
	require.NoError(t, json.Unmarshal(said, &results))
	require.Len(t, results, len(attempts))
	for name, errno := range results {
		require.Equal(t, strconv.Itoa(int(unix.EPERM)), errno, name)
	}
	require.NoFileExists(t, "/tmp/toolcrib-was-here")
}

// Children that serve are under such a filter, with all their threads.
func TestChildrenAreConfined(t *testing.T) {
	t.Parallel()

	if lacks := filterMissing(t); lacks != "" {
		t.Skip(lacks)
	}
	p := newPool(t)
	for _, j := range []sandbox.Job{
		{Language: sandbox.JQ, Program: []byte("[now, (0 | localtime | mktime)] | length")},
		{
			Language: sandbox.JavaScript,
			Program:  []byte("export default () => new Date(0).getFullYear() > 1960 && Math.random() < 1;"),
		},
	} {
		_, err := run(t, p, j)
		require.NoError(t, err)
	}
	confined := 0
	for _, pid := range childrenOf(t) {
		tasks, err := filepath.Glob("/proc/" + pid + "/task/*/status")
		require.NoError(t, err)
		if name, err := os.ReadFile("/proc/" + pid + "/cmdline"); err != nil ||
			!strings.HasSuffix(string(name), "\x00sandbox\x00") {
			continue
		}
		for _, task := range tasks {
			status, err := os.ReadFile(task)
			if err != nil || !strings.Contains(string(status), "\nSeccomp:\t2\n") {
				continue // It ended meanwhile, or has just begun.
			}
			require.Contains(t, string(status), "\nNoNewPrivs:\t1\n")
			confined++
		}
	}
	require.NotZero(t, confined)
}

// strayProbe is a child of which one thread has a filter of its own, which keeps
// the others from having the same.
func strayProbe() int {
	tried, ended := make(chan unix.Errno), make(chan struct{})
	go func() {
		runtime.LockOSThread() // Not unlocked: the thread ends with the goroutine.
		allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
		program := unix.SockFprog{Len: 1, Filter: &allow}
		_, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
		if errno == 0 {
			_, _, errno = unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
		}
		tried <- errno
		<-ended
	}()
	if errno := <-tried; errno != 0 {
		_, _ = fmt.Fprintln(os.Stdout, errno)
		return 3
	}
	lacks, err := child.Fence()
	close(ended)
	_, _ = fmt.Fprintln(os.Stdout, lacks, err)
	return 0
}

// A filter that not every thread could be given is said to be missing: the
// kernel reports it beside its errors.
func TestThreadsWithoutTheFilterAreTold(t *testing.T) {
	t.Parallel()

	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "sandbox-stray")
	cmd.Env = []string{}
	said, err := cmd.Output()
	if cmd.ProcessState.ExitCode() == 3 {
		t.Skipf("the kernel takes no filter: %s", said)
	}
	require.NoError(t, err, "%s", said)
	require.Contains(t, string(said), "cannot apply to all threads")
}

// filterMissing says why the kernel takes no filter, if it does not.
func filterMissing(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "sandbox-probe")
	said, _ := cmd.Output() // How it ended says enough.
	if cmd.ProcessState.ExitCode() == 3 {
		return string(said)
	}
	return ""
}

// childrenOf lists the processes that this one started.
func childrenOf(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	require.NoError(t, err)
	var pids []string
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil {
			pids = append(pids, strings.Fields(string(raw))...)
		}
	}
	return pids
}

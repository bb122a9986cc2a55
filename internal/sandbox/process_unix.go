//go:build unix

package sandbox

import (
	"os/exec"
	"syscall"
)

// detach puts a child into a process group of its own, so that what a terminal
// sends to ours does not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill kills the child and whatever it may have started.
func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // It may be gone.
	_ = cmd.Process.Kill()
}

// signalled reports whether a signal ended the child that it did not send
// itself by dying of a fault.
func signalled(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM)
}

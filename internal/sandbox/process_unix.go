//go:build unix

package sandbox

import (
	"os/exec"
	"syscall"
)

// detach puts a child into its own process group, so that signals of a terminal do not
// reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill kills the child and its descendants.
func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // It may have ended.
	_ = cmd.Process.Kill()
}

// signalled reports whether the child was ended by a signal from outside, not by a fault of
// its own.
func signalled(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM)
}

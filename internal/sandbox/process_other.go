//go:build !unix

package sandbox

import "os/exec"

func detach(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func signalled(*exec.Cmd) bool { return false }

//go:build unix && !linux

package embedded

import "syscall"

// childAttributes makes a child run as the account. This system cannot signal
// a child when we are killed: the next start stops what was left behind.
func childAttributes(as *account, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: as.credential()}
}

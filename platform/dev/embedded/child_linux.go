package embedded

import "syscall"

// childAttributes makes a child run as the account and receive deathSignal
// when we end, even if we are killed.
func childAttributes(as *account, deathSignal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: deathSignal, Credential: as.credential()}
}

//go:build !linux

package ports

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Listening reports whether a process listens on the TCP port, as far as this
// user may see. It opens nothing.
func Listening(ctx context.Context, port int) bool { return Holder(ctx, port) != Process{} }

// Holder returns the process that listens on the TCP port: the zero Process if
// there is none, or none that this user may see.
func Holder(ctx context.Context, port int) Process {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "lsof", "-nP", "-iTCP:"+strconv.Itoa(port), "-sTCP:LISTEN",
		"-Fpc").Output() //nolint:gosec // A number.
	if err != nil {
		return Process{}
	}
	var p Process
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case p.PID == 0 && strings.HasPrefix(line, "p"):
			p.PID, err = strconv.Atoi(line[1:])
			if err != nil {
				return Process{}
			}
		case p.Name == "" && strings.HasPrefix(line, "c"):
			p.Name = line[1:]
		}
	}
	return p
}

// Parent returns the process that started p: the zero Process if that cannot be
// seen.
func Parent(ctx context.Context, p Process) Process {
	pid, err := strconv.Atoi(ps(ctx, "ppid=", p.PID))
	if err != nil || pid == 0 {
		return Process{}
	}
	return Process{PID: pid, Name: filepath.Base(ps(ctx, "comm=", pid))}
}

// ps returns one column of the output of ps for a process.
func ps(ctx context.Context, column string, pid int) string {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-o", column, "-p", strconv.Itoa(pid)).Output() //nolint:gosec // A number.
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

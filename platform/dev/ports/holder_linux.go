package ports

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Holder returns the process that listens on the TCP port: the zero Process if
// there is none, or none that this user may see.
func Holder(ctx context.Context, port int) Process {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	sockets := listeners(port)
	if len(sockets) == 0 {
		return Process{}
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return Process{}
	}
	for _, dir := range processes {
		if ctx.Err() != nil {
			return Process{}
		}
		if holds(dir, sockets) {
			return processAt(dir)
		}
	}
	return Process{}
}

// Listening reports whether a process listens on the TCP port. It opens
// nothing.
func Listening(_ context.Context, port int) bool { return len(listeners(port)) > 0 }

// listeners returns the sockets that listen on the port.
func listeners(port int) map[string]bool {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listening(table, port, sockets)
	}
	return sockets
}

// Columns and the state of a line of /proc/net/tcp.
const (
	localColumn  = 1
	stateColumn  = 3
	socketColumn = 9
	listenState  = "0A"
)

// listening adds the sockets of a table that listen on the port, as links of
// open files name them.
func listening(table string, port int, sockets map[string]bool) {
	file, err := os.Open(table)
	if err != nil {
		return
	}
	defer file.Close()
	suffix := fmt.Sprintf(":%04X", port)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		columns := strings.Fields(lines.Text())
		if len(columns) > socketColumn && columns[stateColumn] == listenState &&
			strings.HasSuffix(columns[localColumn], suffix) {
			sockets["socket:["+columns[socketColumn]+"]"] = true
		}
	}
}

// holds reports whether a process has one of the sockets open.
func holds(dir string, sockets map[string]bool) bool {
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return false // Another user's, or gone.
	}
	for _, file := range files {
		if link, err := os.Readlink(filepath.Join(dir, "fd", file.Name())); err == nil && sockets[link] {
			return true
		}
	}
	return false
}

func processAt(dir string) Process {
	pid, err := strconv.Atoi(filepath.Base(dir))
	if err != nil {
		return Process{}
	}
	name, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return Process{PID: pid}
	}
	return Process{PID: pid, Name: strings.TrimSpace(string(name))}
}

// Parent returns the process that started p: the zero Process if that cannot be
// seen.
func Parent(_ context.Context, p Process) Process {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "status"))
	if err != nil {
		return Process{}
	}
	for line := range strings.Lines(string(raw)) {
		pid, ok := strings.CutPrefix(line, "PPid:")
		if pid = strings.TrimSpace(pid); ok && pid != "0" {
			return processAt(filepath.Join("/proc", pid))
		}
	}
	return Process{}
}

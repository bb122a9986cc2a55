package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is the processor's time that was used: by this process, which Temporal
// and our workers run in, by PostgreSQL, and by the processes of a peer. Where
// there is no /proc the last two are not known.
type usage struct{ own, postgres, peer time.Duration }

func (u usage) minus(v usage) usage {
	return usage{u.own - v.own, u.postgres - v.postgres, u.peer - v.peer}
}

func (u usage) plus(v usage) usage {
	return usage{u.own + v.own, u.postgres + v.postgres, u.peer + v.peer}
}

// ownTime is the processor's time of this process.
func ownTime() time.Duration {
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return 0
	}
	return time.Duration(self.Utime.Nano() + self.Stime.Nano())
}

func (l *lab) usage() usage {
	u := usage{own: ownTime()}
	if l.postmaster != 0 {
		u.postgres = treeTime(l.postmaster)
	}
	return u
}

// treeTime is the processor's time of a process and of all below it.
func treeTime(pid int) time.Duration {
	var total time.Duration
	for _, p := range tree(pid) {
		total += p.cpu
	}
	return total
}

// process is what /proc says of a process.
type process struct {
	pid, parent int
	cpu         time.Duration // With that of its children that have ended.
}

// tick is the unit of times in /proc: USER_HZ, which is 100 on every Linux.
const tick = 10 * time.Millisecond

// readProcess reads /proc/PID/stat.
func readProcess(pid int) (process, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, fmt.Errorf("reading a process: %w", err)
	}
	// The name stands in parentheses and may hold anything; the state follows.
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) < 15 {
		return process{}, fmt.Errorf("reading process %d: it is described in %d fields", pid, len(fields))
	}
	p := process{pid: pid}
	if p.parent, err = strconv.Atoi(fields[1]); err != nil {
		return process{}, fmt.Errorf("reading process %d: %w", pid, err)
	}
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return process{}, fmt.Errorf("reading process %d: %w", pid, err)
		}
		p.cpu += time.Duration(n) * tick
	}
	return p, nil
}

// tree lists a process and all below it.
func tree(root int) []process {
	names, _ := filepath.Glob("/proc/[0-9]*") // The pattern is well formed.
	children := map[int][]process{}
	var found []process
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		p, err := readProcess(pid)
		if err != nil {
			continue // It has ended.
		}
		if pid == root {
			found = append(found, p)
		}
		children[p.parent] = append(children[p.parent], p)
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found
}

// memory is what a process holds, in bytes: what is shared with others counts
// by its share.
func memory(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, fmt.Errorf("reading a process's memory: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "Pss:" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading a process's memory: %w", err)
			}
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("process %d does not say what memory it holds", pid)
}

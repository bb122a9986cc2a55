package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// How long a server that was left behind may take for each way of stopping it.
const (
	orphanFast      = 15 * time.Second
	orphanImmediate = 5 * time.Second
)

// stopOrphan stops a server of this cluster that outlived the process that ran
// it, and removes the mark of one that is gone. The caller holds the home's
// lock, so no living process of ours runs it.
func (h clusterHome) stopOrphan(ctx context.Context, logger *slog.Logger) error {
	pid, err := h.markedPID()
	if err != nil || pid == 0 {
		return err
	}
	for _, stop := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, orphanFast}, {syscall.SIGQUIT, orphanImmediate}} {
		if !h.runs(ctx, pid) {
			break
		}
		logger.WarnContext(ctx, "stopping a PostgreSQL that was left behind", slog.Int("pid", pid))
		if err := syscall.Kill(pid, stop.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stopping the PostgreSQL of process %d: %w", pid, err)
		}
		if err := h.waitGone(ctx, pid, stop.wait); err != nil {
			return err
		}
	}
	if h.runs(ctx, pid) {
		return fmt.Errorf("process %d still runs the cluster in %s and does not stop", pid, h.dir)
	}
	// A server that was killed leaves its mark; its number may be another's by now.
	if err := h.root.Remove(markFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the mark of a server that is gone: %w", err)
	}
	return nil
}

// markedPID returns the process named on the first line of postmaster.pid, 0
// if there is none.
func (h clusterHome) markedPID() (int, error) {
	mark, err := h.mark()
	return mark.pid, err
}

// runs reports whether the process is a server of this cluster, not another
// program that was given its number.
func (h clusterHome) runs(ctx context.Context, pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		raw, err = exec.CommandContext(ctx, "ps", "-ww", "-o", "command=", "-p", //nolint:gosec // A number.
			strconv.Itoa(pid)).Output()
	}
	return err == nil && strings.Contains(string(raw), h.path(dataFolder))
}

func (h clusterHome) waitGone(ctx context.Context, pid int, atMost time.Duration) error {
	deadline := time.NewTimer(atMost)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for h.runs(ctx, pid) {
		select {
		case <-tick.C:
		case <-deadline.C:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("waiting for a PostgreSQL that was left behind: %w", context.Cause(ctx))
		}
	}
	return nil
}

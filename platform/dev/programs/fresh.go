package programs

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// A file that was just written can be open for writing for a moment still: in a child process that another goroutine
// forked meanwhile, until it executes its own program. Running the file fails until then.
const (
	busyTries = 50
	busyPause = 20 * time.Millisecond
)

// outputOf runs a program, which may just have been written, and returns what it prints. Pause waits between tries.
func outputOf(ctx context.Context, pause func(context.Context) error, program string, args ...string) ([]byte, error) {
	for try := 1; ; try++ {
		cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // A program of the machine's own $PATH.
		cmd.WaitDelay = time.Second                       // A grandchild may hold the pipe.
		out, err := cmd.Output()
		if !errors.Is(err, syscall.ETXTBSY) || try == busyTries {
			return out, err
		}
		if pause(ctx) != nil {
			return nil, err
		}
	}
}

// aMoment is the pause between tries to run a program.
func aMoment(ctx context.Context) error {
	timer := time.NewTimer(busyPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

//go:build unix

package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockFile is in the cache folder and is never removed: else two processes
// could lock two files of one name.
const lockFile = "lock"

// takeTurn waits until no other process installs into the folder. The kernel
// ends the turn when the process ends, however it ends.
func takeTurn(ctx context.Context, folder string) (end func(), err error) {
	file, err := os.OpenFile(filepath.Join(folder, lockFile), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the cache's lock: %w", err)
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("locking the cache: %w", err), file.Close())
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("waiting for another download: %w", context.Cause(ctx)), file.Close())
		}
	}
}

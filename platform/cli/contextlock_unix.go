//go:build unix

package cli

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// lockFile waits for the lock of a file. The kernel takes it back when the
// process ends, however it ends.
func lockFile(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // Beside its user's settings.
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the contexts: %w", err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR { //nolint:errorlint // A number of the system's.
			break
		}
	}
	if err != nil {
		_ = file.Close() // Nothing was written.
		return nil, fmt.Errorf("locking the contexts: %w", err)
	}
	return func() { _ = file.Close() }, nil // Which lets the lock go.
}

// exposed reports whether others than its owner may read a file.
func exposed(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

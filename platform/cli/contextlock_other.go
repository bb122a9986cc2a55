//go:build !unix

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// lockPatience is how long another process may hold the lock.
const lockPatience = 10 * time.Second

// lockFile waits for the lock of a file: for the file itself to be gone.
func lockFile(path string) (unlock func(), err error) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // Beside its user's settings.
		switch {
		case err == nil:
			return func() { _, _ = file.Close(), os.Remove(path) }, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("opening the lock of the contexts: %w", err)
		case time.Since(began) > lockPatience:
			return nil, fmt.Errorf("the contexts are locked by another process; if there is none, delete %s", path)
		}
	}
}

// exposed reports whether users other than the owner may read a file. The mode
// does not say so on this system, so it is always false.
func exposed(fs.FileInfo) bool { return false }

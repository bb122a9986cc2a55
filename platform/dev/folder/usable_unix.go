//go:build unix

package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// LeastFree is how many bytes a disk must have left for a data folder: an empty
// database and its log take most of it.
const LeastFree = 100 << 20

// Usable reports whether this user can keep data in dir, or make it, and how
// many bytes its disk has left. It fails with an [*Error], and changes nothing.
func Usable(dir string) (free uint64, err error) {
	at, err := existing(dir)
	if err != nil {
		return 0, Explain(dir, err)
	}
	const write, enter = 0x2, 0x1
	if err := syscall.Access(at, write|enter); err != nil {
		return 0, Explain(dir, err)
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(at, &disk); err != nil {
		return 0, Explain(dir, err)
	}
	free = uint64(disk.Bavail) * uint64(disk.Bsize) //nolint:gosec,unconvert // Types differ between systems; sizes are not negative.
	return free, room(dir, free)
}

// room refuses a disk that is as good as full.
func room(dir string, free uint64) error {
	if free >= LeastFree {
		return nil
	}
	return &Error{
		Dir: dir, Reason: fmt.Sprintf("has %d MB left on its disk and needs %d", free>>20, LeastFree>>20),
		Mend: "make room there, or " + elsewhere, Err: syscall.ENOSPC,
	}
}

// existing returns the folder, or the nearest above it that there is.
func existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return "", syscall.ENOTDIR
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

// owner returns the name of the user that owns the folder, or its nearest
// existing parent, unless it is this user.
func owner(dir string) (string, bool) {
	at, err := existing(dir)
	if err != nil {
		return "", false
	}
	var stat syscall.Stat_t
	if err := syscall.Stat(at, &stat); err != nil || int(stat.Uid) == os.Geteuid() {
		return "", false
	}
	return nameOf(stat.Uid), true
}

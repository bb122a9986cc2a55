package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/toolcrib/toolcrib/platform/dev/folder"
)

const lockFile = folder.LockFile

// folderLock is the right to use a folder. The kernel takes it back when the
// process ends, however it ends.
type folderLock struct {
	file *os.File
}

// lockFolder takes the lock of dir, or returns a [*LockedError].
func lockFolder(dir string) (*folderLock, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder to lock: %w", err)
	}
	defer root.Close() // The lock is the file's.
	return lockRoot(root)
}

// lockRoot is [lockFolder] of a folder that is open.
func lockRoot(root *os.Root) (*folderLock, error) {
	file, err := root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock file: %w", err)
	}
	if err := soleName(file); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the lock file: %w", err), file.Close())
	}
	if err := flock(file); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &LockedError{Dir: root.Name(), PID: holderOf(file)}
		}
		return nil, fmt.Errorf("locking %s: %w", root.Name(), err)
	}
	// The number only makes the error of the next process better.
	if err := errors.Join(file.Truncate(0), writeAt(file, strconv.Itoa(os.Getpid())+"\n")); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the lock file: %w", err), file.Close())
	}
	return &folderLock{file: file}, nil
}

// soleName fails unless file is a regular file that no other name leads to: what
// is about to be overwritten must not be a file from elsewhere.
func soleName(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || stat.Nlink > 1 {
		return fmt.Errorf("%s is not a file of this folder alone", file.Name())
	}
	return nil
}

func flock(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	if err := conn.Control(func(fd uintptr) {
		lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
	}); err != nil {
		return err
	}
	return lockErr
}

// release gives the folder back. The file stays: removing it would let two
// processes lock two files of one name.
func (l *folderLock) release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("releasing the lock: %w", err)
	}
	return nil
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

func holderOf(file *os.File) int {
	raw, err := io.ReadAll(io.LimitReader(file, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}

package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// open opens a file of the home to read and returns its size. The account may
// have made it: it is a regular file, but may say anything.
func (h clusterHome) open(name string) (*os.File, int64, error) {
	file, err := h.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // A pipe must not hold us up.
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", h.path(name))
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// read returns the beginning of a small file of the home.
func (h clusterHome) read(name string) ([]byte, error) {
	const most = 4 << 10
	file, _, err := h.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// create creates a new file of the home for writing and replaces an existing
// one of the same name: an existing file is never written to.
func (h clusterHome) create(name string, flags int) (*os.File, error) {
	if err := h.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return h.root.OpenFile(name, flags|os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// write makes a file of the home, which becomes the owner's.
func (h clusterHome) write(name, text string, owner *account) (err error) {
	file, err := h.create(name, 0)
	if err != nil {
		return fmt.Errorf("making %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.WriteString(text); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return owner.own(file)
}

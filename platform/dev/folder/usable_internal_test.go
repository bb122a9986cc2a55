//go:build unix

package folder

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUsable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, err := Usable(filepath.Join(dir, "not", "there", "yet"))
	require.NoError(t, err)
	require.Positive(t, free)
	require.NoDirExists(t, filepath.Join(dir, "not"), "looking changes nothing")

	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{file, filepath.Join(file, "below")} {
		_, err = Usable(path)
		require.EqualError(t, err, "the data folder "+path+" is not a folder: choose another folder with --data")
	}
	require.EqualError(t, room("/data", 3<<20),
		"the data folder /data has 3 MB left on its disk and needs 100: "+
			"make room there, or choose another folder with --data")
}

// An error of the system is explained, with what to do.
func TestExplain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for cause, says := range map[syscall.Errno]string{
		syscall.EACCES:  "may not be used by this user: choose another folder",
		syscall.EROFS:   "is on a file system that is read-only: choose another folder",
		syscall.ENOSPC:  "is on a disk that is full: make room there, or choose another folder",
		syscall.EDQUOT:  "is on a disk that is full: make room there, or choose another folder",
		syscall.ENOTDIR: "is not a folder: choose another folder",
	} {
		err := Explain(dir, fmt.Errorf("making it: %w", &fs.PathError{Op: "mkdir", Path: dir, Err: cause}))
		require.ErrorContains(t, err, "the data folder "+dir+" "+says)
		require.ErrorIs(t, err, cause)
	}
	require.ErrorIs(t, Explain(dir, fs.ErrClosed), fs.ErrClosed)
	require.NoError(t, Explain(dir, nil))
}

func TestFolderOfSomebodyElse(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root has somebody else's folder at hand")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chown(dir, 54321, -1))
	err := Explain(dir, syscall.EACCES)
	require.ErrorContains(t, err, "it belongs to user 54321")
	require.ErrorContains(t, err, fmt.Sprintf("sudo chown -R 0 %q", dir))
}

package embedded

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/dev/folder"
)

// A data folder of another user is reported as such, with the command that
// gives it to this user.
func TestStackOnAFolderOfSomebodyElse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(passage(t), "data")
	require.NoError(t, os.Mkdir(dir, 0o500)) // Only root may write to it, and the attempt below is not made as root.
	failed := make(chan error, 1)
	go func() {
		if os.Geteuid() == 0 {
			// This thread alone, which ends with the goroutine, meets files as
			// another user.
			runtime.LockOSThread()
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 54321, 0, 0)
		}
		s := &Stack{cfg: Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)}}
		failed <- s.openFolder()
	}()
	err := <-failed
	var unusable *folder.Error
	require.ErrorAs(t, err, &unusable)
	require.ErrorContains(t, err, "the data folder "+dir+" may not be used by this user")
	require.ErrorContains(t, err, "choose another folder with --data")
}

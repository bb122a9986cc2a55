//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether a folder is the user's own, and no other user may
// write to it.
func private(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// exposed reports whether users other than the owner may read a file.
func exposed(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

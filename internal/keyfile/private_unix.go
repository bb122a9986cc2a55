//go:build unix

package keyfile

import "io/fs"

// private reports whether only the owner may read or write a file.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

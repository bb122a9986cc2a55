//go:build !unix

package keyfile

import "io/fs"

// private reports true: this system has no file modes.
func private(fs.FileInfo) bool { return true }

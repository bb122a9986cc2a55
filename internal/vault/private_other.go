//go:build !unix

package vault

import "io/fs"

// private reports whether a file is the user's own; elsewhere it is taken to be.
func private(fs.FileInfo) bool { return true }

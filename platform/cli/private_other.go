//go:build !unix

package cli

import "io/fs"

// private reports whether a folder is the user's own. The mode does not say so
// on this system, so it is always true.
func private(fs.FileInfo) bool { return true }

// exposed reports whether users other than the owner may read a file. The mode
// does not say so on this system, so it is always false.
func exposed(fs.FileInfo) bool { return false }

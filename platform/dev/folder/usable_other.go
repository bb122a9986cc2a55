//go:build !unix

package folder

// Usable reports whether this user can keep data in dir; on this system it is
// unknown, and assumed.
func Usable(string) (free uint64, err error) { return 0, nil }

func owner(string) (string, bool) { return "", false }

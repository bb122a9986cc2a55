//go:build !unix

package folder

// Usable reports whether this user can keep data in dir; here nobody can tell.
func Usable(string) (free uint64, err error) { return 0, nil }

func owner(string) (string, bool) { return "", false }

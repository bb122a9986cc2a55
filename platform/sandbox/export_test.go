package sandbox

import "errors"

// Fence takes from the process what no engine needs, as [Main] does, and says
// which part of the fence the kernel has not.
func Fence() (lacks string, err error) {
	if err := fence(); err != nil {
		return "", err
	}
	if missing := errors.Join(dropPrivileges(), confine()); missing != nil {
		lacks = missing.Error()
	}
	return lacks, nil
}

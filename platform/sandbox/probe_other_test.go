//go:build !linux

package sandbox_test

func probe() int { return 3 }

func strayProbe() int { return 3 }

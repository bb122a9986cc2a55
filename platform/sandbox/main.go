package sandbox

import (
	"fmt"
	"os"
	"runtime"
)

// Main is the whole of the child process: it fences itself in and serves jobs
// from its standard input until that ends. It returns the exit code.
func Main() int {
	runtime.LockOSThread() // Threads are started by one whose rights are given up.
	if err := fence(); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		return 1
	}
	if err := Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		return 1
	}
	return 0
}

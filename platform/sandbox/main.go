package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Argument is the argument with which a binary runs as a child.
const Argument = "sandbox"

// Command returns the command line that starts the running binary as a child,
// for a binary whose main calls [Main] when its only argument is [Argument];
// nil if the path of the binary is unknown.
func Command() []string {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{path, Argument}
}

// maxStack bounds the stack of an engine written in Go, in bytes: recursion ends
// there, and not by the memory that it takes.
const maxStack = 64 << 20

// Main is the main function of the child process: it restricts the process and
// serves jobs from its standard input until that ends. It returns the exit code.
// If it cannot drop privileges, or the kernel has no system call filters, it
// continues without, and reports that to the pool that started it.
func Main() int {
	runtime.LockOSThread() // New threads inherit from this one, which drops privileges.
	// One program runs at a time, and takes at most one processor.
	runtime.GOMAXPROCS(1)
	debug.SetMaxStack(maxStack)
	if err := fence(); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		return 1
	}
	lacks := ""
	if err := errors.Join(dropPrivileges(), confine()); err != nil {
		lacks = err.Error()
	}
	if err := serve(os.Stdin, os.Stdout, lacks); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		return 1
	}
	return 0
}

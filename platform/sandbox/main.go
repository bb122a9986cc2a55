package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Argument is what a binary is called with that is to be a child.
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

// Main is the whole of the child process: it fences itself in and serves jobs
// from its standard input until that ends. It returns the exit code. If it
// can't give up privileges, or the kernel supports no filter of system calls,
// it continues without, and reports that to the pool that started it.
func Main() int {
	runtime.LockOSThread() // Threads are started by one whose rights are given up.
	// One program runs at a time, and no tenant's takes more than a processor.
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

package embedded

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// child is a process that ends with ours.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // Closed when the process has ended.
	err  error         // How it ended; read after done.
}

// startChild starts cmd, which has the attributes of [childAttributes]: in a
// process group of its own, so that an interrupt typed at the terminal reaches
// us alone and we stop it in order.
func startChild(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends the child when the thread that started it ends, so
		// this thread must live as long: it is locked, waits, and is never
		// given back.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		c.err = cmd.Wait()
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return c, nil
}

// runChild runs cmd to its end.
func runChild(cmd *exec.Cmd) error {
	c, err := startChild(cmd)
	if err != nil {
		return err
	}
	<-c.done
	return c.err
}

// signal sends sig unless the process has ended.
func (c *child) signal(sig syscall.Signal) {
	select {
	case <-c.done:
	default:
		_ = c.cmd.Process.Signal(sig) // It may end at this moment, which is all we want.
	}
}

// Command demo runs Toolcrib's main job from end to end: see package demo.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/toolcrib/toolcrib/platform/demo"
	"github.com/toolcrib/toolcrib/platform/sandbox"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == sandbox.Argument {
		os.Exit(sandbox.Main())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // A second ctrl-c ends it at once.
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "demo: interrupted")
			os.Exit(130)
		}
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	stay := flags.Bool("stay", false, "keep everything up until ctrl-c")
	data := flags.String("data", "", "the `folder` that keeps everything (default .toolcrib/demo in the repository)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := repository()
	if err != nil {
		return err
	}
	return demo.Run(ctx, demo.Config{Root: root, DataDir: *data, Stay: *stay, Sandbox: sandbox.Command(), Out: out})
}

// repository returns the root of the repository around the working directory.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "examples", "support-desk")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run it inside the repository: examples/support-desk is not found")
		}
		dir = parent
	}
}

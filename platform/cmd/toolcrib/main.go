// Command toolcrib is the command line of Toolcrib, and its server and worker.
// Built with the tag "lean" it has no Temporal server in it, which only
// "toolcrib dev" uses: that is the binary for servers (deploy/Dockerfile).
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/cli/sandboxcmd"
	"github.com/toolcrib/toolcrib/platform/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // A second interrupt ends the process at once.
	os.Exit(cli.Run(ctx, cli.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Version: version(), Sandbox: sandbox.Command(),
	}, os.Args[1:], commands.New, operator.New, devCommand(), sandboxcmd.New))
}

// version returns the version that the binary was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

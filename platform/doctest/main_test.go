// Package doctest_test runs the commands of the documentation: every command,
// definition and statement of docs/, in order, against a real PostgreSQL and a
// real Temporal server. docs/README.md says how pages are written for it.
package doctest_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/cli/sandboxcmd"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
	"github.com/toolcrib/toolcrib/platform/sandbox"
)

// commandVariable makes this test's binary one of the commands that readers
// type. A second binary would hold Temporal's server once more.
const commandVariable = "TOOLCRIB_DOCTEST_COMMAND"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == sandbox.Argument && os.Getenv(commandVariable) == "" {
		os.Exit(sandbox.Main()) //nolint:forbidigo // This is main.
	}
	command := os.Getenv(commandVariable)
	if command == "" {
		os.Exit(m.Run()) //nolint:forbidigo // This is main.
	}
	_ = os.Unsetenv(commandVariable) // Nothing that it starts is the command again.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	switch command {
	case "toolcrib": // As cmd/toolcrib has it.
		os.Exit(cli.Run(ctx, cli.Env{ //nolint:forbidigo // This is main.
			In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Version: "dev",
			Sandbox: sandbox.Command(),
		}, os.Args[1:], commands.New, operator.New, devcmd.New, sandboxcmd.New))
	case "temporal":
		if err := temporalMain(ctx, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "temporal:", err)
			os.Exit(1) //nolint:forbidigo // This is main.
		}
	default:
		panic(command)
	}
}

// Package sandboxcmd is the command that runs untrusted programs. It is a
// package of its own because of the engines that it links.
package sandboxcmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/sandbox"
)

// New returns the command, for [cli.Run].
func New(*cli.App) []*cobra.Command {
	return []*cobra.Command{{
		Use:   sandbox.Argument,
		Short: "Run untrusted programs, for a worker",
		Long: `Runs jq filters, JavaScript modules and WASM commands for a worker, which starts
this by itself and kills it when a program's time is over. It reads jobs from
its standard input and is of no use to people. Linux only: nothing else limits
its memory.`,
		Example: `  toolcrib sandbox </dev/null`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if sandbox.Main() != 0 {
				return errors.New("the sandbox could not begin, or lost its worker")
			}
			return nil
		},
	}}
}

// Package leancmd is the command "toolcrib dev" of binaries that are built with
// the tag "lean", for servers: they have no Temporal server, and say so.
package leancmd

import (
	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/tool"
)

// New returns the command, for [cli.Run].
func New(*cli.App) []*cobra.Command {
	return []*cobra.Command{{
		Use:   "dev",
		Short: "Not in this build: run everything on this machine",
		Long: `This binary was built for servers, without Temporal's server and UI, which
"toolcrib dev" runs. The commands serve, worker and migrate use a Temporal and a
PostgreSQL of yours.`,
		Example:            `  toolcrib serve --help`,
		DisableFlagParsing: true, // Whatever the flags: the answer is the same.
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				if arg == "--help" || arg == "-h" {
					return cmd.Help()
				}
			}
			return &tool.Error{
				Kind: tool.Conflict, Op: "dev",
				Msg: "this build has no embedded Temporal server and PostgreSQL: it was built with -tags lean, for servers; " +
					"use a binary that was built without the tag, or serve and worker with a Temporal of yours",
			}
		},
	}}
}

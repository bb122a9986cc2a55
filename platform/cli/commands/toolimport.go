package commands

import (
	"encoding/json"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) importDefinitionsCommand() *cobra.Command {
	const path = "toolcrib tool import definitions"
	var files []string
	var dryRun bool
	cmd := cli.Describe(&cobra.Command{
		Use: "definitions -f FILE|FOLDER", Short: "Take over tools of another system, filling in what they leave out",
		Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return cli.Usagef("%s needs -f with a file or a folder, or - for the standard input", path)
			}
			return a.send(cmd.Context(), cmd.InOrStdin(), files, dryRun, "importing %d definitions",
				func(c *client.Client, definitions []json.RawMessage) (v1.Applied, error) {
					return c.ImportTools(cmd.Context(), v1.ImportTools{DryRun: dryRun, Definitions: definitions})
				})
		},
	}, `Reads definitions, or exported rows of another system's table of tools, as apply
does. What they leave out is filled in: a tool whose is_active is not false is
published and another disabled, the version is 1.0.0, and the implementation type
follows from artifact_id, configuration and is_system. A tool that cannot be
published becomes a draft, with a warning that says why. One that is malformed
fails alone: the others are imported. Importing the same again changes nothing.`, `  `+path+` -f export.json --dry-run
  `+path+` -f tools/`)
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "file or folder of definitions; may be repeated")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check, and report what would be imported")
	return cmd
}

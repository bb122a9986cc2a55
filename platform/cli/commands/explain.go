package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

// explainCommand explains a call that happened; tool explain is about calls to come.
func (a *app) explainCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "explain CALL", Short: "Explain a call that happened, step by step", Args: cli.Operands("call"),
		ValidArgsFunction: a.completeInvocations,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			explained, err := c.ExplainCall(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(explained, func(w io.Writer) error { return writeCallSteps(w, explained) })
		}),
	}, `Says how the tool of a call was resolved, what was changed in its arguments, why it was
allowed or needed an approval, who decided, when it was tried, in which lane, and how it
ended or what it waits for. The id of a call is that of its invocation: toolcrib
invocations list shows those.`,
		`  toolcrib explain 01987a3c-0000-7000-8000-000000000002`)
}

func writeCallSteps(w io.Writer, v v1.CallExplanation) error {
	if _, err := fmt.Fprintf(w, "%s is %s\n\n", terminal.Clean(versioned(v.Tool, v.Version)), v.Status); err != nil {
		return err
	}
	return terminal.Table(w, "STAGE AT BY DETAIL~", each(v.Steps, func(s v1.CallStep) []string {
		return []string{string(s.Stage), terminal.StampOf(s.At), s.By, s.Detail}
	}))
}

// completeInvocations completes ids of the latest calls.
func (a *app) completeInvocations(
	cmd *cobra.Command, _ []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ListInvocations(ctx, client.InvocationQuery{Page: client.Page{Limit: completionNames}})
		return each(page.Items, func(v v1.Invocation) string {
			return v.ID + "\t" + versioned(v.Tool, v.Version) + " " + string(v.Status)
		}), err
	})
}

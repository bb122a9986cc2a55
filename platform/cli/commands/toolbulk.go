package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) toolDeleteCommand() *cobra.Command {
	return cli.Describe(a.withTool("delete", "Delete a tool, for good",
		func(ctx context.Context, c *client.Client, name string) error {
			gone, err := c.DeleteTool(ctx, name)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "deleted %s", terminal.Clean(gone.Slug))
		}), `Takes a tool out of sight and frees its slug. What is published has to be disabled
first. Its versions and the record of its calls stay.`, `  toolcrib tool delete getOrder`)
}

func (a *app) toolBulkCommand() *cobra.Command {
	commands := make([]*cobra.Command, 0, len(v1.BulkActions()))
	for _, action := range v1.BulkActions() {
		commands = append(commands, a.toolBulkActionCommand(action))
	}
	return cli.Describe(cli.Group("bulk", "Publish, disable, enable or delete many tools", commands...),
		`Changes many tools, chosen by name, tag, source or status. Each is changed by
itself: one that fails leaves the others as they were changed.`,
		`  toolcrib tool bulk publish --source Orders --status draft
  toolcrib tool bulk disable --tag beta
  toolcrib tool bulk delete listOrders getOrder --dry-run`)
}

func (a *app) toolBulkActionCommand(action v1.BulkAction) *cobra.Command {
	in := v1.BulkTools{Action: action}
	var status string
	name := string(action)
	cmd := cli.Describe(&cobra.Command{
		Use: name + " [TOOL...]", Short: strings.ToUpper(name[:1]) + name[1:] + " many tools",
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			in.Tools, in.Status = args, tool.Status(status)
			if len(args) == 0 && in.Tag == "" && in.Source == "" {
				return cli.Usagef("toolcrib tool bulk %s needs the names of tools, --tag or --source", name)
			}
			done := a.Progress("%s tools", name)
			result, err := c.BulkTools(cmd.Context(), in)
			done()
			if err != nil {
				return err
			}
			if err := a.Printer.Show(result, func(w io.Writer) error { return writeBulk(w, result) }); err != nil {
				return err
			}
			return bulkEnd(result)
		}),
	}, `Chooses tools by slug or id, --tag, --source and --status; those that are given have
to agree. A tag is the category of a tool, or a tag of the operation that it was
imported from; a source is the name of the document. Only the tenant's own tools
are changed. If one fails, the exit code is that of its failure.`,
		"  toolcrib tool bulk "+name+" --source Orders --dry-run\n  toolcrib tool bulk "+name+" listOrders getOrder")
	flags := cmd.Flags()
	flags.StringVar(&in.Tag, "tag", "", "tools of this category, or imported from operations with this tag")
	flags.StringVar(&in.Source, "source", "", "tools imported from the document of this name")
	flags.StringVar(&status, "status", "", "of these, only tools that are draft, published, deprecated or disabled")
	flags.BoolVar(&in.DryRun, "dry-run", false, "list the tools that are meant, and change nothing")
	return cmd
}

func writeBulk(w io.Writer, in v1.BulkResult) error {
	rows := make([][]string, 0, len(in.Items))
	for _, item := range in.Items {
		outcome := item.Outcome
		switch {
		case item.Error != nil:
			outcome = "failed: " + item.Error.Detail
		case in.DryRun:
			outcome = "would be " + strings.TrimSuffix(string(in.Action), "e") + "ed"
		}
		rows = append(rows, []string{item.Tool, item.Version, string(item.Status), outcome})
	}
	if err := terminal.Table(w, "TOOL~ VERSION STATUS RESULT~", rows); err != nil {
		return err
	}
	c := in.Counts
	summary := fmt.Sprintf("%s: %d changed, %d unchanged, %d failed, %d not looked at", in.Action, c.Changed, c.Unchanged,
		c.Failed, c.Skipped)
	if in.DryRun {
		summary = fmt.Sprintf("%s: %d tools are meant; nothing was changed", in.Action, c.Changed)
	}
	return writeLines(w, []string{"", summary})
}

// bulkEnd returns how a bulk change ends whose answer was shown.
func bulkEnd(in v1.BulkResult) error {
	for _, item := range in.Items {
		if item.Error != nil {
			return &cli.ExitError{Code: cli.KindCode(item.Error.Code)}
		}
	}
	return nil
}

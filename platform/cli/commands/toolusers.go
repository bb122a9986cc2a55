package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) toolUsersCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "users TOOL[@VERSION]", Short: "Show what uses a tool, and what a version would do to each",
		Args: cli.Operands("tool, such as getOrder or getOrder@1.3.0"), ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			name, version, _ := strings.Cut(args[0], "@")
			all := v1.ToolUsage{Items: []v1.ToolUse{}}
			for page := (client.Page{Limit: v1.MaxLimit}); ; {
				found, err := c.ToolUsers(cmd.Context(), name, version, page)
				if err != nil {
					return a.suggestTool(cmd.Context(), c, name, err)
				}
				found.Items = append(all.Items, found.Items...)
				all = found
				if page.Cursor = found.Next; page.Cursor == "" {
					break
				}
			}
			return a.Printer.Show(all, func(w io.Writer) error { return showUsage(w, &all) })
		}),
	}, `Lists agents, compositions and graphs, by what was published last and by their
drafts, toolsets, schedules, assignments and profiles that use the tool: the version
that each gets now, and what becomes of it when the version that is named, or the
draft, is published. It is judged by the rules of publishing.`,
		`  toolcrib tool users getOrder
  toolcrib tool users getOrder@1.3.0 --json`)
}

func showUsage(w io.Writer, u *v1.ToolUsage) error {
	rows := make([][]string, len(u.Items))
	for i, item := range u.Items {
		name := item.Name
		switch {
		case !item.Published:
			name += " (draft)"
		case item.Version != "":
			name = versioned(item.Name, item.Version)
		}
		if item.Through != "" {
			name += " by " + item.Through
		}
		rows[i] = []string{string(item.Kind), name, item.Gets, string(item.Verdict), item.Reason}
	}
	if len(rows) == 0 && len(u.Runs) == 0 {
		_, err := fmt.Fprintf(w, "nothing uses %s\n", terminal.Clean(u.Tool))
		return err
	}
	if err := terminal.Table(w, "KIND USER GETS VERDICT WHY~", rows); err != nil {
		return err
	}
	if len(u.Runs) > 0 {
		_, err := fmt.Fprintf(w, "\nruns that have not ended: %s\n", terminal.Clean(strings.Join(u.Runs, ", ")))
		return err
	}
	return nil
}

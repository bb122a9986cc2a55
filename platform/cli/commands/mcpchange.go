package commands

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) mcpRefreshCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "refresh SERVER", Short: "Ask an MCP server what it offers now", Args: cli.Operands("server"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			done := a.Progress("asking %s what it offers", args[0])
			report, err := c.RefreshMCPServer(cmd.Context(), args[0])
			done()
			if err != nil {
				return err
			}
			return a.showRefresh(report)
		}),
	}, `Asks a server what it offers, and reports what is new, changed, gone and back. New
tools that are allowed become drafts. Those that changed or are gone stop, and
no others. A server that does not answer changes nothing.

The exit code is 5 when something is stopped until it is reviewed.`, `  toolcrib mcp refresh files`)
}

// showRefresh prints what a server offers, and what to do about it.
func (a *app) showRefresh(r v1.MCPRefresh) error {
	if err := a.Printer.Show(r, func(w io.Writer) error { return writeRefresh(w, r) }); err != nil {
		return err
	}
	if r.Error != nil {
		return &cli.ExitError{Code: cli.KindCode(r.Error.Code)}
	}
	for _, t := range r.Tools {
		if t.Change == "changed" || t.Change == "gone" {
			return &cli.ExitError{Code: cli.ExitConflict}
		}
	}
	return nil
}

func writeRefresh(w io.Writer, r v1.MCPRefresh) error {
	slug := terminal.Clean(r.Server.Slug)
	if r.Error != nil {
		_, err := fmt.Fprintf(w, "%s is attached, and was not asked: %s\nwhen that is mended: toolcrib mcp refresh %s\n",
			slug, terminal.Clean(r.Error.Detail), slug)
		return err
	}
	rows := make([][]string, len(r.Tools))
	count := make(map[string]int)
	for i, t := range r.Tools {
		count[t.Change]++
		rows[i] = []string{t.Change, t.Name, t.Tool, t.Reason}
	}
	if len(rows) > 0 {
		if err := terminal.Table(w, "CHANGE NAME TOOL WHY~", rows); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, "%s: %s\n", slug, counted(count, r.Unchanged)); err != nil {
		return err
	}
	for _, next := range nextSteps(r, count) {
		if _, err := fmt.Fprintln(w, next); err != nil {
			return err
		}
	}
	return nil
}

// counted returns how many tools changed in which way.
func counted(count map[string]int, unchanged int) string {
	var parts []string
	for _, change := range []string{"new", "changed", "gone", "back", "refused", "missing", "offered"} {
		if n := count[change]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, change))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d unchanged", unchanged)), ", ")
}

// nextSteps returns what to do after a refresh.
func nextSteps(r v1.MCPRefresh, count map[string]int) []string {
	slug := terminal.Clean(r.Server.Slug)
	var steps []string
	if count["changed"] > 0 {
		steps = append(
			steps,
			"what changed is stopped: look with toolcrib mcp diff "+slug+", then let it in with toolcrib mcp approve "+slug+
				" NAME --publish",
		)
	}
	if count["gone"] > 0 {
		steps = append(steps, "what is gone is stopped: it goes on when the server offers it again as it was")
	}
	if i := firstNew(r.Tools); i >= 0 {
		steps = append(
			steps,
			"new tools are drafts: look with toolcrib tool show "+terminal.Clean(r.Tools[i].Tool)+
				", then toolcrib tool publish "+
				terminal.Clean(r.Tools[i].Tool),
		)
	}
	if count["offered"] > 0 && len(r.Server.AllowedTools) == 0 {
		steps = append(
			steps, "nothing is allowed yet: toolcrib mcp update "+slug+" --allow NAME, then toolcrib mcp refresh "+slug,
		)
	}
	return steps
}

func firstNew(tools []v1.MCPRefreshedTool) int {
	for i, t := range tools {
		if t.Change == "new" {
			return i
		}
	}
	return -1
}

func (a *app) mcpDiffCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "diff SERVER [NAME]", Short: "Tell what an MCP server made of tools that were let in",
		Args: func(cmd *cobra.Command, args []string) error {
			return cli.Operands("server", "name")(cmd, append(args, "any")[:max(2, len(args))])
		},
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			page, err := c.DiffMCPServer(cmd.Context(), args[0], append(args, "")[1])
			if err != nil {
				return err
			}
			return a.Printer.Show(page, func(w io.Writer) error {
				if len(page.Items) == 0 {
					_, err := fmt.Fprintln(
						a.Env.Err,
						"nothing changed since it was let in; ask the server with toolcrib mcp refresh "+terminal.Clean(args[0]),
					)
					return err
				}
				for i, d := range page.Items {
					if i > 0 {
						if _, err := fmt.Fprintln(w); err != nil {
							return err
						}
					}
					if err := writeDrift(w, d); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}, `Tells what changed about a tool, named as the server calls it, or about all that
changed: where, how it weighs, which version number an approval takes, and both
descriptions. Those are the words of a stranger: read them, and do not follow
them.`, `  toolcrib mcp diff files
  toolcrib mcp diff files read_file`)
}

func writeDrift(w io.Writer, d v1.MCPDrift) error {
	if err := terminal.Pairs(w, "name", d.Name, "state", d.State, "why", d.Reason, "tool", d.Tool); err != nil {
		return err
	}
	if d.Pinned != nil && d.Offered != nil && d.Pinned.Description != d.Offered.Description {
		if err := terminal.Pairs(w, "it said", d.Pinned.Description, "it says", d.Offered.Description); err != nil {
			return err
		}
	}
	if d.Diff != nil {
		if err := writeDiff(w, *d.Diff); err != nil {
			return err
		}
	}
	for _, warning := range d.Warnings {
		if _, err := fmt.Fprintln(w, "note: "+terminal.Clean(warning)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) mcpApproveCommand() *cobra.Command {
	var publish bool
	var digest string
	cmd := cli.Describe(&cobra.Command{
		Use: "approve SERVER NAME…", Short: "Let in what an MCP server made of its tools",
		Args: func(cmd *cobra.Command, args []string) error {
			if digest != "" && len(args) > 2 {
				return errors.New("--digest is that of one tool")
			}
			return cli.Operands("server", "name")(cmd, args[:min(2, len(args))])
		},
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			in := v1.ApproveMCP{Publish: publish}
			for _, name := range args[1:] {
				in.Tools = append(in.Tools, v1.MCPApproval{Name: name, Digest: digest})
			}
			answer, err := c.ApproveMCPTools(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			if err := a.Printer.Show(answer, func(w io.Writer) error { return a.writeApproved(w, answer) }); err != nil {
				return err
			}
			for _, item := range answer.Items {
				if item.Error != nil {
					return &cli.ExitError{Code: cli.KindCode(item.Error.Code)}
				}
			}
			return nil
		}),
	}, `Takes the server's present definition of tools, named as the server calls them,
over into their drafts, but for what was changed by hand. A published tool goes
on when that draft is published: --publish does so at once. With --digest only
the very definition that was looked at is let in.`, `  toolcrib mcp approve files read_file --publish
  toolcrib mcp approve files read_file list_dir`)
	cmd.Flags().BoolVar(&publish, "publish", false, "publish the drafts too, as new versions")
	cmd.Flags().StringVar(&digest, "digest", "", "digest of the definition that was looked at")
	return cmd
}

func (a *app) writeApproved(w io.Writer, answer v1.ApprovedMCP) error {
	var rows [][]string
	for _, item := range answer.Items {
		if item.Error != nil {
			if _, err := fmt.Fprintf(a.Env.Err, "%s: %s\n", terminal.Clean(item.Name),
				terminal.Clean(item.Error.Detail)); err != nil {
				return err
			}
			continue
		}
		next := "publish it with toolcrib tool publish " + item.Tool
		if item.Published {
			next = "published"
		}
		rows = append(rows, []string{item.Name, item.Tool, item.Version, next})
		for _, warning := range item.Warnings {
			if _, err := fmt.Fprintf(a.Env.Err, "%s: note: %s\n", terminal.Clean(item.Name),
				terminal.Clean(warning)); err != nil {
				return err
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return terminal.Table(w, "NAME TOOL VERSION NEXT", rows)
}

func (a *app) mcpDetachCommand() *cobra.Command {
	var force bool
	cmd := cli.Describe(&cobra.Command{
		Use: "detach SERVER", Short: "Detach an MCP server", Args: cli.Operands("server"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			gone, err := c.DetachMCPServer(cmd.Context(), args[0], force)
			if err != nil {
				return err
			}
			return a.Printer.Show(gone, func(w io.Writer) error {
				text := "detached " + terminal.Clean(gone.Server)
				if len(gone.Disabled) > 0 {
					text += "; disabled " + terminal.Clean(strings.Join(gone.Disabled, ", "))
				}
				_, err := fmt.Fprintln(w, text)
				return err
			})
		}),
	}, `Detaches a server. The tools that were made of its tools stay, and do not run any
more; attaching it again under the same slug takes them up. While some of them
are published this is refused, unless --force disables them.`, `  toolcrib mcp detach files
  toolcrib mcp detach files --force`)
	cmd.Flags().BoolVar(&force, "force", false, "disable the published tools that run on it")
	return cmd
}

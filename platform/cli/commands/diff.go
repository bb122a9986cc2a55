package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) toolDiffCommand() *cobra.Command {
	var files []string
	cmd := &cobra.Command{
		Use:   "diff TOOL [FROM] [TO] | diff -f FILE [FROM]",
		Short: "Tell versions of a tool apart, and which number a change needs",
		Long: `Tells what changed between two versions of a tool, where, and how it weighs for
those who call it: something removed or newly required, a narrower type and a
changed answer are major, an addition is minor, words are a patch. It names the
least number that may be published.

FROM is the last release when absent, TO the draft; "draft" names the draft. With
-f it shows what applying the definitions of tools in a file would change.`,
		Example: `  toolcrib tool diff getOrder
  toolcrib tool diff getOrder 1.0.0 2.0.0
  toolcrib tool diff -f order.yaml
  toolcrib tool diff -f order.yaml draft`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.tools(cmd, args, typed)
			}
			return a.completeVersions(cmd, args, typed)
		},
		Args: func(cmd *cobra.Command, args []string) error {
			most, least := 3, 1
			if cmd.Flags().Changed("file") {
				most, least = 1, 0
			}
			switch {
			case len(args) < least:
				return fmt.Errorf("%s needs a tool, or -f with a file: see %s --help", cmd.CommandPath(), cmd.CommandPath())
			case len(args) > most:
				return fmt.Errorf("%s does not know what to do with %q: see %s --help", cmd.CommandPath(), args[most],
					cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(files) > 0 {
				return a.diffFiles(cmd.Context(), cmd.InOrStdin(), files, append(args, "")[0])
			}
			return a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
				operands := append(args, "", "")
				d, err := c.DiffTool(cmd.Context(), args[0], operands[1], operands[2])
				if err != nil {
					return a.suggestTool(cmd.Context(), c, args[0], err)
				}
				return a.Printer.Show(d, func(w io.Writer) error { return writeDiff(w, d) })
			})(cmd, args)
		},
	}
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil,
		"file or folder of definitions; - for the standard input; may be repeated")
	return cmd
}

// diffedFile is a diff with the position of its definition.
type diffedFile struct {
	v1.Diff
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
}

// diffFiles reports what applying the tools in files would change.
func (a *app) diffFiles(ctx context.Context, stdin io.Reader, files []string, from string) error {
	documents, err := definition.Read(ctx, files, stdin)
	if err != nil {
		return err
	}
	c, err := a.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	found := []diffedFile{}
	for _, d := range documents {
		if d.Outline().Kind != "tool" {
			continue
		}
		diff, err := c.DiffDefinition(ctx, d.Raw, from)
		if p, ok := client.Problem(err); ok && p.Code == tool.Invalid {
			return d.Fault(strings.TrimPrefix(p.Path, "/definition"), p.Detail)
		} else if err != nil {
			return err
		}
		at := d.Fault("", "")
		found = append(found, diffedFile{Diff: diff, File: at.File, Line: at.Line})
	}
	if len(found) == 0 {
		return &tool.Error{Kind: tool.Invalid, Msg: "there are no definitions of tools in " + strings.Join(files, ", ")}
	}
	return a.Printer.Show(v1.Page[diffedFile]{Items: found}, func(w io.Writer) error {
		for i, d := range found {
			if i > 0 {
				if _, err := fmt.Fprintln(w); err != nil {
					return err
				}
			}
			if err := writeDiff(w, d.Diff); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeDiff(w io.Writer, d v1.Diff) error {
	if d.From == "" {
		_, err := fmt.Fprintf(w, "%s is new: there is nothing to compare with, and any number will do\n",
			terminal.Clean(d.Tool))
		return err
	}
	_, err := fmt.Fprintf(w, "%s: from %s to %s\n", terminal.Clean(d.Tool), terminal.Clean(d.From), sideName(d))
	if err != nil {
		return err
	}
	if len(d.Changes) == 0 {
		_, err := fmt.Fprintln(w, "nothing changed")
		return err
	}
	rows := make([][]string, len(d.Changes))
	for i, c := range d.Changes {
		rows[i] = []string{c.Path, c.Bump, c.Reason}
	}
	if err := terminal.Table(w, "WHERE~ WEIGHS WHAT~", rows); err != nil {
		return err
	}
	verdict := "the version need not change"
	if d.Bump != "none" {
		verdict = "the change is " + d.Bump
	}
	if d.Least != "" {
		verdict += ", the least version is " + d.Least
	}
	if _, err := fmt.Fprintln(w, terminal.Clean(verdict)); err != nil || d.Enough {
		return err
	}
	_, err = fmt.Fprintln(w, "not allowed: "+terminal.Clean(d.Refusal))
	return err
}

// sideName returns the name of a diff's newer side.
func sideName(d v1.Diff) string {
	if d.To == d.Number {
		return terminal.Clean(d.To)
	}
	return terminal.Clean(fmt.Sprintf("the %s (%s)", d.To, d.Number))
}

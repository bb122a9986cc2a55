package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	parsed "github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/quality"
	"github.com/toolcrib/toolcrib/tool"
)

// checked is a tool with its findings.
type checked struct {
	Tool     string            `json:"tool"`
	File     string            `json:"file,omitempty"`
	Findings []quality.Finding `json:"findings"`

	subject quality.Subject
	at      *definition.Document // Nil for a tool of the server.
}

func (a *app) toolCheckCommand() *cobra.Command {
	var files []string
	var strict, offline, codes bool
	cmd := cli.Describe(&cobra.Command{
		Use: "check TOOL... | -f FILE|FOLDER", Short: "Check how tools read to a model", ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case codes:
				return a.showCodes()
			case len(args) == 0 && len(files) == 0:
				return cli.Usagef("name tools, or files with -f")
			case offline && len(args) > 0:
				return cli.Usagef("--offline checks files only: tools are read from the server")
			}
			return a.check(cmd.Context(), cmd.InOrStdin(), args, files, offline, strict)
		},
	}, `Checks names, descriptions and arguments of tools, whether one tool both reads and
changes, and whether what changes something has a tool that finds its target. Findings
are advice: with --strict they end the command with exit code 1. FILE may be YAML, JSON
or a TOOL.md. Tools of the server count as those beside the checked ones, unless
--offline is given.`, `  toolcrib tool check getOrder refundOrder
  toolcrib tool check -f tools/ --strict
  toolcrib tool check -f TOOL.md --offline
  toolcrib tool check --codes`)
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "file or folder of definitions; may be repeated")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail where there are findings")
	cmd.Flags().BoolVar(&offline, "offline", false, "ask no server")
	cmd.Flags().BoolVar(&codes, "codes", false, "list the codes of findings")
	return cmd
}

func (a *app) showCodes() error {
	all := quality.Codes()
	return a.Printer.Show(v1.Page[quality.Info]{Items: all}, func(w io.Writer) error {
		return terminal.Table(w, "CODE MEANING~", each(all, func(i quality.Info) []string {
			return []string{string(i.Code), i.Meaning}
		}))
	})
}

// check checks tools of the server and of files.
func (a *app) check(ctx context.Context, stdin io.Reader, names, files []string, offline, strict bool) error {
	var all []checked
	if len(files) > 0 {
		documents, err := readTools(ctx, files, stdin)
		if err != nil {
			return err
		}
		if all, err = subjects(documents); err != nil {
			return err
		}
	}
	var beside []quality.Sibling
	for _, c := range all {
		beside = append(beside, quality.SiblingOf(c.subject))
	}
	if !offline {
		c, err := a.Connect()
		if err != nil {
			return err
		}
		defer c.Close()
		for _, name := range names {
			t, err := c.Tool(ctx, name)
			if err != nil {
				return a.suggestTool(ctx, c, name, err)
			}
			all = append(all, checked{Tool: t.Slug, subject: subjectOf(t)})
		}
		known, err := siblings(ctx, c)
		if err != nil {
			return err
		}
		beside = append(beside, known...)
	}
	found := 0
	for i := range all {
		others := slices.DeleteFunc(slices.Clone(beside), func(s quality.Sibling) bool { return s.Slug == all[i].Tool })
		if offline && len(others) == 0 {
			others = nil // Nothing is known of the tools beside it.
		}
		all[i].Findings = append([]quality.Finding{}, quality.Check(all[i].subject, others)...)
		found += len(all[i].Findings)
	}
	err := a.Printer.Show(v1.Page[checked]{Items: all}, func(w io.Writer) error { return writeChecked(w, all) })
	if err != nil {
		return err
	}
	if strict && found > 0 {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return nil
}

func writeChecked(w io.Writer, all []checked) error {
	for _, c := range all {
		if len(c.Findings) == 0 {
			if _, err := fmt.Fprintf(w, "%s: nothing was found\n", terminal.Clean(c.Tool)); err != nil {
				return err
			}
			continue
		}
		for _, f := range c.Findings {
			line := terminal.Clean(c.Tool + ": " + f.String())
			if c.at != nil {
				line = terminal.Clean(c.at.Fault(f.Path, f.String()).Error())
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTools reads definitions from YAML, JSON and contracts.
func readTools(ctx context.Context, paths []string, stdin io.Reader) ([]definition.Document, error) {
	var out []definition.Document
	for _, path := range paths {
		contracts, err := definition.ReadContracts(ctx, []string{path}, stdin)
		none := err != nil && !definition.IsContract(path)
		switch {
		case err == nil:
			out = append(out, each(contracts, func(c definition.Contract) definition.Document { return c.Document })...)
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				continue
			}
		case !none:
			return nil, err
		}
		documents, err := definition.Read(ctx, []string{path}, stdin)
		if err != nil && none {
			return nil, err
		}
		out = append(out, documents...)
	}
	return out, nil
}

// subjects returns the tools of documents.
func subjects(documents []definition.Document) ([]checked, error) {
	var out []checked
	for _, d := range documents {
		if d.Outline().Kind != "tool" {
			continue
		}
		read, err := parsed.Parse(d.Raw)
		if err != nil {
			e := tool.AsError(err)
			return nil, d.Fault(e.Path, e.Msg)
		}
		s := read.Tool
		out = append(out, checked{
			Tool: s.Slug, File: d.Fault("", "").File, at: &d,
			subject: quality.Subject{Slug: s.Slug, Definition: s.Definition, Policy: s.Policy},
		})
	}
	if len(out) == 0 {
		return nil, &tool.Error{Kind: tool.Invalid, Msg: "there are no definitions of tools"}
	}
	return out, nil
}

func subjectOf(t v1.Tool) quality.Subject {
	return quality.Subject{
		Slug: t.Slug, Policy: t.Policy, Definition: tool.Definition{
			Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
			Implementation: t.Implementation, Execution: t.Execution, Interaction: t.Interaction,
		},
	}
}

// siblings lists the tools of the server.
func siblings(ctx context.Context, c *client.Client) ([]quality.Sibling, error) {
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Tool], error) {
		return c.ListTools(ctx, client.ToolQuery{Page: p})
	})
	return each(page.Items, func(t v1.Tool) quality.Sibling { return quality.SiblingOf(subjectOf(t)) }), err
}

func (a *app) toolRegisterCommand() *cobra.Command {
	var apply, strict bool
	var files []string
	cmd := cli.Describe(&cobra.Command{
		Use: "register FILE|FOLDER...", Short: "Register the tools of TOOL.md files; dry unless --apply is given",
		RunE: func(cmd *cobra.Command, args []string) error {
			files = append(files, args...)
			if len(files) == 0 {
				return cli.Usagef("name a TOOL.md, or a folder with some")
			}
			contracts, err := definition.ReadContracts(cmd.Context(), files, cmd.InOrStdin())
			if err != nil {
				return err
			}
			documents := each(contracts, func(c definition.Contract) definition.Document { return c.Document })
			if strict {
				if err := refuseWeak(documents); err != nil {
					return err
				}
			}
			err = a.sendDocuments(cmd.Context(), documents, !apply)
			if err == nil && !apply && !a.Printer.JSON {
				_, err = fmt.Fprintln(a.Env.Err, "nothing was changed: add --apply to register")
			}
			return err
		},
	}, `Reads TOOL.md files: YAML front matter with the definition of a tool, and prose with
its description, when to use it and when not, and examples. Shows what applying would
make of each: created, updated, the same, or refused with the reason and its line.
Nothing is changed unless --apply is given.`, `  toolcrib tool register TOOL.md
  toolcrib tool register tools/ --apply
  toolcrib tool register tools/ --strict --apply`)
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "as an operand; may be repeated")
	cmd.Flags().BoolVar(&apply, "apply", false, "register the tools")
	cmd.Flags().BoolVar(&strict, "strict", false, "refuse tools with findings of toolcrib tool check")
	return cmd
}

// refuseWeak fails with the first finding in definitions.
func refuseWeak(documents []definition.Document) error {
	all, err := subjects(documents)
	if err != nil {
		return err
	}
	for _, c := range all {
		if found := quality.Check(c.subject, nil); len(found) > 0 {
			return c.at.Fault(found[0].Path, strings.TrimSpace(found[0].String()))
		}
	}
	return nil
}

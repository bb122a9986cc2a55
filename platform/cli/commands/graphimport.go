package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/agentspec"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) graphImportCommand() *cobra.Command {
	var in agentspec.Options
	var file string
	var apply bool
	cmd := cli.Describe(&cobra.Command{
		Use: "import FILE", Short: "Make definitions of an Agent Spec document", Args: cli.Operands("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if apply && file != "" {
				return cli.Usagef("give one of --apply and --output")
			}
			raw, err := definition.ReadFile(args[0], cmd.InOrStdin())
			if err != nil {
				return &tool.Error{Kind: tool.NotFound, Msg: definition.Unreadable(args[0], err), Err: err}
			}
			made, err := agentspec.Import(raw, in)
			if err != nil {
				return a.refused(args[0], err)
			}
			if apply {
				return a.applyImported(cmd.Context(), made)
			}
			return a.showImported(made, file)
		},
	}, `Reads a document of Open Agent Specification, JSON or YAML, whose component is a Flow
or an Agent, from a file or with - from the standard input. It prints definitions that
toolcrib apply takes: a graph for each flow, http tools of requests, prompt tools of
prompts, client tools, and agents. What was dropped, is done differently, or has to
exist before the definitions are applied is listed on the error stream, each with its
place in the document.

No server is asked, and nothing is fetched. With --apply the definitions are applied at
once. A document that has no counterpart is refused with all its faults.`,
		`  toolcrib graph import flow.yaml
  toolcrib graph import flow.json --output desk/flow.yaml
  toolcrib graph import flow.json --model openai/gpt-4.1-mini --slug checkOrders --apply`)
	cmd.Flags().StringVar(&in.Slug, "slug", "", "slug of the graph (made of its name)")
	cmd.Flags().StringVar(&in.Model, "model", "", "model of all prompts and agents, instead of those of the document")
	cmd.Flags().BoolVar(&in.Draft, "draft", false, "leave the definitions unpublished")
	cmd.Flags().StringVarP(&file, "output", "o", "", "file for the definitions, instead of the standard output")
	cmd.Flags().BoolVar(&apply, "apply", false, "apply the definitions")
	return cmd
}

// refused prints all faults of a document, and returns how the command ends.
func (a *app) refused(file string, err error) error {
	faults, ok := errors.AsType[agentspec.Faults](err)
	if !ok || a.Printer.JSON {
		return err
	}
	for _, f := range faults {
		line := file
		if f.Path != "" {
			line += " at " + f.Path
		}
		if _, err := fmt.Fprintf(a.Env.Err, "%s: %s\n", terminal.Clean(line), terminal.Clean(f.Message)); err != nil {
			return err
		}
	}
	return &cli.ExitError{Code: cli.ExitInvalid}
}

// showImported prints definitions, and what they lack.
func (a *app) showImported(made *agentspec.Imported, file string) error {
	out, err := definitionsText(made.Definitions)
	if err != nil {
		return err
	}
	if file == "" && !a.Printer.JSON {
		if err := a.writeLosses(made.Losses); err != nil {
			return err
		}
		_, err := io.WriteString(a.Printer.Out, out)
		return err
	}
	if file != "" {
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			return &tool.Error{Kind: tool.Invalid, Msg: "writing the definitions: " + err.Error(), Err: err}
		}
	}
	return a.Printer.Show(made, func(w io.Writer) error {
		if err := a.writeLosses(made.Losses); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "%d definitions in %s: toolcrib apply -f %s\n", len(made.Definitions),
			terminal.Clean(filepath.Clean(file)), terminal.Clean(file))
		return err
	})
}

// definitionsText writes definitions as documents of one YAML file.
func definitionsText(all []json.RawMessage) (string, error) {
	texts := make([]string, len(all))
	for i, raw := range all {
		var err error
		if texts[i], err = definition.Format(raw); err != nil {
			return "", err
		}
	}
	return strings.Join(texts, "---\n"), nil
}

// writeLosses lists on the error stream what the outcome of an import or export lacks, changed or needs.
func (a *app) writeLosses(losses []agentspec.Loss) error {
	for _, l := range losses {
		at := l.Path
		if at == "" {
			at = "the document"
		}
		if _, err := fmt.Fprintf(a.Env.Err, "%-8s %s: %s\n", l.What, terminal.Clean(at),
			terminal.Clean(l.Reason)); err != nil {
			return err
		}
	}
	return nil
}

// applyImported applies definitions, and prints the outcome of each.
func (a *app) applyImported(ctx context.Context, made *agentspec.Imported) error {
	c, err := a.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	if !a.Printer.JSON {
		if err := a.writeLosses(made.Losses); err != nil {
			return err
		}
	}
	answer, err := c.Apply(ctx, v1.Apply{Definitions: made.Definitions})
	if err != nil {
		return err
	}
	documents := make([]definition.Document, len(made.Definitions))
	for i, raw := range made.Definitions {
		documents[i] = definition.Document{Raw: raw}
	}
	a.suggestTools(ctx, c, documents, answer.Items)
	shown := struct {
		*agentspec.Imported

		Failed int              `json:"failed"`
		Items  []v1.AppliedItem `json:"items"`
	}{made, answer.Failed, answer.Items}
	items := make([]appliedFile, len(answer.Items))
	for i, item := range answer.Items {
		items[i] = appliedFile{AppliedItem: item}
	}
	if err := a.Printer.Show(shown, func(w io.Writer) error {
		return writeApplied(w, a.Env.Err, items, false)
	}); err != nil {
		return err
	}
	if answer.Failed > 0 {
		return &cli.ExitError{Code: worstCode(items)}
	}
	return nil
}

func (a *app) graphExportCommand() *cobra.Command {
	var file, format string
	cmd := cli.Describe(&cobra.Command{
		Use: "export GRAPH", Short: "Write a graph as an Agent Spec document", Args: cli.Operands("graph"),
		ValidArgsFunction: a.completeGraphs,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if format != "json" && format != "yaml" {
				return cli.Usagef("--format %q: want json or yaml", format)
			}
			if isFile(args[0]) {
				return cli.Usagef("%s is a file: apply it, and export it by its slug", args[0])
			}
			slug, version, _ := strings.Cut(args[0], "@")
			answer, err := c.ExportGraph(cmd.Context(), slug, version)
			if err != nil {
				return a.suggestTool(cmd.Context(), c, slug, err)
			}
			return a.showExported(answer, file, format)
		}),
	}, `Writes the draft of a graph, or a version, as in checkOrders@1.0.0, as a document of
Open Agent Specification `+agentspec.Version+`, with the tools, agents and graphs that it uses. What other
readers of the document do not see is listed on the error stream, each with its place in
the graph. Settings that the format has no words for, such as retries and conditions,
are kept as metadata, and toolcrib graph import takes them up again.`,
		`  toolcrib graph export checkOrders > checkOrders.json
  toolcrib graph export checkOrders@1.0.0 --format yaml --output flow.yaml`)
	cmd.Flags().StringVarP(&file, "output", "o", "", "file for the document, instead of the standard output")
	cmd.Flags().StringVar(&format, "format", "json", "json or yaml")
	return cmd
}

func (a *app) showExported(answer v1.ExportedGraph, file, format string) error {
	text := string(answer.Document) + "\n"
	if format == "yaml" {
		var err error
		if text, err = definition.Format(answer.Document); err != nil {
			return err
		}
	}
	losses := make([]agentspec.Loss, len(answer.Losses))
	for i, l := range answer.Losses {
		losses[i] = agentspec.Loss(l)
	}
	if file != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return &tool.Error{Kind: tool.Invalid, Msg: "writing the document: " + err.Error(), Err: err}
		}
	}
	return a.Printer.Show(answer, func(w io.Writer) error {
		if err := a.writeLosses(losses); err != nil {
			return err
		}
		if file != "" {
			_, err := fmt.Fprintf(w, "the document is in %s\n", terminal.Clean(file))
			return err
		}
		_, err := io.WriteString(w, text)
		return err
	})
}

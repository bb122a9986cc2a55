package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) applyCommand() *cobra.Command { return a.applyAs("toolcrib apply") }

// toolApplyCommand is the same under "tool", where it is looked for too.
func (a *app) toolApplyCommand() *cobra.Command { return a.applyAs("toolcrib tool apply") }

func (a *app) applyAs(path string) *cobra.Command {
	var files []string
	var asked v1.Apply
	cmd := &cobra.Command{
		Use:   "apply -f FILE|FOLDER",
		Short: "Make tools, agents and pipelines what their definitions say",
		Long: `Reads definitions of tools, agents, MCP servers, artifacts, pipelines, profiles and
toolsets from YAML and JSON files, a folder's files recursively and in the order of their names, and
applies all of them, or, if one is wrong, none. Applying the same again changes nothing. With --dry-run
nothing is changed, and the exit code is what it would be.

With --set the definitions are all of a named set, such as those of a repository, and what
the set had before and has no longer is listed. With --prune that is taken away too: tools
are archived, agents disabled, artifacts deprecated, servers detached, the others deleted.
What is used stays, and the message says by what. A definition that comes back takes its
tool or agent back.

A file holds one or more documents, each of which says by kind what it is: tool,
agent, mcp_server, artifact, pipeline, profile or toolset.

  kind: tool
  slug: getOrder
  description: Finds an order by its number.
  version: 1.0.0
  publish: true
  implementation_type: http
  egress_class: read_only
  implementation_config:
    url: https://orders.example.com/orders/{id}
  input_schema:
    type: object
    properties: {id: {type: string}}
    required: [id]`,
		Example: `  ` + path + ` -f tools/
  ` + path + ` -f order.yaml --dry-run
  ` + path + ` -f tools/ --set shop --prune --dry-run
  generate-tools | ` + path + ` -f -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%s takes files with -f: %s -f %s", path, path, strings.Join(args, " -f "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return cli.Usagef("%s needs -f with a file or a folder, or - for the standard input", path)
			}
			if asked.Prune && asked.Set == "" {
				return cli.Usagef("--prune takes away what a set no longer has: name it with --set NAME")
			}
			return a.apply(cmd.Context(), cmd.InOrStdin(), files, asked)
		},
	}
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "file or folder of definitions; may be repeated")
	cmd.Flags().BoolVar(&asked.DryRun, "dry-run", false, "check, and report what would change")
	cmd.Flags().StringVar(&asked.Set, "set", "", "name of the set that the definitions are all of")
	cmd.Flags().BoolVar(&asked.Prune, "prune", false, "take away what the set no longer has")
	cmd.Flags().BoolVar(&asked.Strict, "strict", false,
		"refuse published tools that toolcrib tool check finds weak points in")
	return cmd
}

// appliedFile is an item of an answer with the file of its definition.
type appliedFile struct {
	v1.AppliedItem
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	at     definition.FileError
}

func (a *app) apply(ctx context.Context, stdin io.Reader, files []string, asked v1.Apply) error {
	return a.send(ctx, stdin, files, asked.DryRun, "applying %d definitions",
		func(c *client.Client, definitions []json.RawMessage) (v1.Applied, error) {
			asked.Definitions = definitions
			return c.Apply(ctx, asked)
		})
}

// send sends the definitions in files to the server, and prints the outcome of
// each.
func (a *app) send(
	ctx context.Context, stdin io.Reader, files []string, dryRun bool, doing string,
	call func(*client.Client, []json.RawMessage) (v1.Applied, error),
) error {
	documents, err := definition.Read(ctx, files, stdin)
	if err != nil {
		return err
	}
	return a.sendRead(ctx, documents, dryRun, doing, call)
}

// sendDocuments applies definitions that were read.
func (a *app) sendDocuments(ctx context.Context, documents []definition.Document, dryRun bool) error {
	return a.sendRead(ctx, documents, dryRun, "applying %d definitions",
		func(c *client.Client, definitions []json.RawMessage) (v1.Applied, error) {
			return c.Apply(ctx, v1.Apply{DryRun: dryRun, Definitions: definitions})
		})
}

// sendRead is send for definitions that were read.
func (a *app) sendRead(
	ctx context.Context, documents []definition.Document, dryRun bool, doing string,
	call func(*client.Client, []json.RawMessage) (v1.Applied, error),
) error {
	if err := definition.CheckBatch(documents); err != nil {
		return err
	}
	definitions := make([]json.RawMessage, len(documents))
	for i, d := range documents {
		definitions[i] = d.Raw
	}
	c, err := a.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	done := a.Progress(doing, len(documents))
	answer, err := call(c, definitions)
	done()
	if err != nil {
		return err
	}
	a.suggestTools(ctx, c, documents, answer.Items)
	items := locate(documents, answer.Items)
	shown := struct {
		DryRun bool          `json:"dry_run,omitempty"`
		Failed int           `json:"failed"`
		Items  []appliedFile `json:"items"`
		Gone   []v1.GoneItem `json:"gone,omitempty"`
	}{answer.DryRun, answer.Failed, items, answer.Gone}
	if err := a.Printer.Show(shown, func(w io.Writer) error {
		if err := writeApplied(w, a.Env.Err, items, dryRun); err != nil {
			return err
		}
		return writeGone(w, a.Env.Err, answer.Gone, dryRun)
	}); err != nil {
		return err
	}
	if answer.Failed > 0 {
		return &cli.ExitError{Code: worstOf(items, answer.Gone)}
	}
	return nil
}

// locate adds to each item the position of its definition, or of the fault in
// it.
func locate(documents []definition.Document, items []v1.AppliedItem) []appliedFile {
	out := make([]appliedFile, len(items))
	for i, item := range items {
		out[i] = appliedFile{AppliedItem: item}
		if item.Index < 0 || item.Index >= len(documents) {
			continue
		}
		d, pointer := documents[item.Index], ""
		if item.Error != nil {
			pointer = faultPointer(d, item.Error)
		}
		at := d.Fault(pointer, "")
		out[i].File, out[i].Line, out[i].Column, out[i].at = at.File, at.Line, at.Column, *at
	}
	return out
}

// faultPointer returns the JSON Pointer of the fault in a definition. For an agent's
// tools it is the first one that the problem names.
func faultPointer(d definition.Document, p *v1.Problem) string {
	if p.Path != "/tools" {
		return p.Path
	}
	for i, raw := range d.Outline().Tools {
		var ref string
		if json.Unmarshal(raw, &ref) == nil && strings.Contains(p.Detail, " "+ref+" ") {
			return p.Path + "/" + strconv.Itoa(i)
		}
	}
	return p.Path
}

// writeApplied writes the outcome of each definition, and errors and warnings
// to the error stream, as compilers do.
func writeApplied(w, errs io.Writer, items []appliedFile, dryRun bool) error {
	var rows [][]string
	failed := 0
	for _, item := range items {
		var faults []string
		for _, warning := range item.Warnings {
			faults = append(faults, "warning: "+terminal.Clean(warning))
		}
		if item.Error != nil {
			failed++
			faults = append(faults, terminal.Clean(item.Error.Detail))
		} else {
			rows = append(rows, []string{item.Kind, item.Slug, item.Version, outcomeOf(item.AppliedItem, dryRun)})
		}
		for _, fault := range faults {
			at := item.at
			at.Msg = fault
			if _, err := fmt.Fprintln(errs, at.Error()); err != nil {
				return err
			}
			if item.Error != nil {
				if err := at.Show(errs); err != nil {
					return err
				}
			}
		}
	}
	switch {
	case failed > 0 && skipped(items):
		_, err := fmt.Fprintf(errs, "nothing was applied: %d of %d definitions are wrong\n", failed, len(items))
		return err
	case len(rows) > 0:
		return terminal.Table(w, "KIND SLUG VERSION RESULT", rows)
	}
	return nil
}

func skipped(items []appliedFile) bool {
	for _, item := range items {
		if item.Error == nil && item.Action != v1.Skipped {
			return false
		}
	}
	return true
}

func outcomeOf(item v1.AppliedItem, dryRun bool) string {
	words := []string{string(item.Action)}
	if item.Published {
		words = append(words, "published")
	}
	text := strings.Join(words, ", ")
	if dryRun && item.Action != v1.Unchanged {
		return "would be " + text
	}
	return text
}

// worstCode returns the exit code for failed items: that of the first fault.
func worstCode(items []appliedFile) int {
	for _, item := range items {
		if item.Error != nil {
			return cli.KindCode(item.Error.Code)
		}
	}
	return cli.ExitFailure
}

// suggestTools adds the tool with the most similar name to the error of agents
// whose tool was not found: of the batch, or of those that the key may see.
func (a *app) suggestTools(
	ctx context.Context, c *client.Client, documents []definition.Document, items []v1.AppliedItem,
) {
	refused := func(item v1.AppliedItem) bool {
		return item.Error != nil && item.Error.Code == tool.NotFound && strings.HasPrefix(item.Error.Path, "/tools") &&
			item.Index >= 0 && item.Index < len(documents)
	}
	if !slices.ContainsFunc(items, refused) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.Env.Patience, suggestPatience))
	defer cancel()
	known, err := toolNames(ctx, c)
	if err != nil { // The error is reported without suggestions.
		return
	}
	for _, d := range documents {
		if o := d.Outline(); o.Kind == "tool" && o.Slug != "" {
			known = append(known, o.Slug)
		}
	}
	for _, item := range items {
		if !refused(item) {
			continue
		}
		for _, raw := range documents[item.Index].Outline().Tools {
			var ref tool.Ref
			if json.Unmarshal(raw, &ref) != nil || ref.Slug == "" || slices.Contains(known, ref.Slug) {
				continue
			}
			item.Error.Detail += terminal.DidYouMean(ref.Slug, known)
		}
	}
}

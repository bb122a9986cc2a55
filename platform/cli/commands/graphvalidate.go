package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

func (a *app) graphValidateCommand() *cobra.Command {
	var offline bool
	cmd := cli.Describe(&cobra.Command{
		Use: "validate FILE...", Short: "Check graphs, and report everything that is wrong",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s needs a file or a folder, or - for the standard input", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.validateGraphs(cmd.Context(), cmd.InOrStdin(), args, offline)
		},
	}, `Checks the graphs and compositions in files: tools, and configurations alone. All
faults are reported, each with its line. A server then checks all definitions in the
files as toolcrib apply --dry-run does, among others whether tools and agents exist; with
--offline it is not asked.`, `  toolcrib graph validate desk/
  toolcrib graph validate checkOrders.yaml --offline --json`)
	cmd.Flags().BoolVar(&offline, "offline", false, "check without a server")
	return cmd
}

func (a *app) validateGraphs(ctx context.Context, stdin io.Reader, files []string, offline bool) error {
	documents, err := definition.Read(ctx, files, stdin)
	if err != nil {
		return err
	}
	graphs := graphsIn(documents)
	if len(graphs) == 0 {
		return noGraph(strings.Join(files, ", "))
	}
	faults, wrong, tools := []graphError{}, 0, 0
	for _, d := range graphs {
		_, found := d.parse()
		if faults = append(faults, found...); len(found) > 0 {
			wrong++
		}
		if d.whole {
			tools++
		}
	}
	var answer []appliedFile
	if wrong == 0 && !offline && tools > 0 {
		if answer, err = a.tryOut(ctx, documents); err != nil {
			return err
		}
	}
	failed := 0
	for _, item := range answer {
		if item.Error != nil {
			failed++
		}
	}
	shown := struct {
		Graphs int           `json:"graphs"`
		Failed int           `json:"failed"`
		Faults []graphError  `json:"faults"`
		Items  []appliedFile `json:"items,omitempty"`
	}{len(graphs), wrong + failed, faults, answer}
	err = a.Printer.Show(shown, func(w io.Writer) error {
		for _, f := range faults {
			at := *f.FileError
			at.Msg = terminal.Clean(at.Msg)
			if _, err := fmt.Fprintln(a.Env.Err, at.Error()); err != nil {
				return err
			}
			if err := at.Show(a.Env.Err); err != nil {
				return err
			}
		}
		if err := writeApplied(io.Discard, a.Env.Err, answer, true); err != nil {
			return err
		}
		if wrong+failed == 0 {
			_, err := fmt.Fprintf(w, "%d graphs are sound\n", len(graphs))
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case wrong > 0:
		return &cli.ExitError{Code: cli.ExitInvalid}
	case failed > 0:
		return &cli.ExitError{Code: worstCode(answer)}
	}
	return nil
}

// tryOut has the server check definitions, and changes nothing. Configurations alone stay out.
func (a *app) tryOut(ctx context.Context, documents []definition.Document) ([]appliedFile, error) {
	var sent []definition.Document
	var raw []json.RawMessage
	alone := map[string]bool{}
	for _, g := range graphsIn(documents) {
		alone[string(g.Raw)] = !g.whole
	}
	for _, d := range documents {
		if !alone[string(d.Raw)] {
			sent, raw = append(sent, d), append(raw, d.Raw)
		}
	}
	if err := definition.CheckBatch(sent); err != nil {
		return nil, err
	}
	c, err := a.Connect()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	answer, err := c.Apply(ctx, v1.Apply{DryRun: true, Definitions: raw})
	if err != nil {
		return nil, fmt.Errorf("asking the server, which --offline leaves out: %w", err)
	}
	a.suggestTools(ctx, c, sent, answer.Items)
	return locate(sent, answer.Items), nil
}

package operator

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
)

func (a *app) migrateCommand() *cobra.Command {
	up := &cobra.Command{
		Use: "up", Short: "Bring the schema and the built-in tools up to date", Args: cli.Operands(),
		Long:    `Does what "toolcrib migrate" does.`,
		Example: `  toolcrib migrate up --database-url postgres://owner@db/toolcrib`,
	}
	cmd := cli.Group("migrate", "Bring a database up to date", up, a.migrateStatusCommand())
	var database string
	run := func(cmd *cobra.Command, _ []string) error {
		url, err := a.DatabaseURL(database)
		if err != nil {
			return err
		}
		done, err := serve.Migrate(cmd.Context(), url, a.Logger())
		if err != nil {
			return err
		}
		return a.Printer.Show(migrated(done), func(w io.Writer) error { return writeMigrated(w, done) })
	}
	up.RunE, cmd.RunE = run, run
	cmd.Long = `Applies the migrations that a database lacks, and brings the platform's own tools
in it up to date. The URL is that of its owner, who may create roles; serve and
worker connect as a role that is granted ` + store.AppRole + ` and nothing more.`
	cmd.Example = `  toolcrib migrate --database-url postgres://owner@db/toolcrib
  toolcrib migrate status`
	cli.DatabaseFlag(up, &database)
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

// migratedShape is what migrating prints as JSON.
type migratedShape struct {
	Applied  []migrationShape `json:"applied"`
	Builtins []string         `json:"builtins"`
}

type migrationShape struct {
	Version   int    `json:"version"`
	Name      string `json:"name"`
	AppliedAt string `json:"applied_at,omitempty"`
}

func migrated(done serve.Migrated) migratedShape {
	out := migratedShape{Applied: shapes(done.Steps), Builtins: []string{}}
	for _, b := range done.Builtins {
		out.Builtins = append(out.Builtins, b.Slug+"@"+b.Version)
	}
	return out
}

func shapes(steps []store.Migration) []migrationShape {
	out := make([]migrationShape, len(steps))
	for i, step := range steps {
		out[i] = migrationShape{Version: step.Version, Name: step.Name, AppliedAt: terminal.StampOf(step.AppliedAt)}
	}
	return out
}

func writeMigrated(w io.Writer, done serve.Migrated) error {
	for _, step := range done.Steps {
		if _, err := fmt.Fprintf(w, "applied %03d %s\n", step.Version, step.Name); err != nil {
			return err
		}
	}
	for _, b := range done.Builtins {
		if _, err := fmt.Fprintf(w, "%s %s\n", b.Action, b.Slug+"@"+b.Version); err != nil {
			return err
		}
	}
	if len(done.Steps)+len(done.Builtins) > 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "up to date")
	return err
}

func (a *app) migrateStatusCommand() *cobra.Command {
	var database string
	cmd := &cobra.Command{
		Use: "status", Short: "Show which migrations a database has", Args: cli.Operands(),
		Long:    `Lists the migrations of this version, and when each was applied. It changes nothing.`,
		Example: `  toolcrib migrate status --database-url postgres://owner@db/toolcrib`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			steps, err := store.MigrationStatus(cmd.Context(), url)
			if err != nil {
				return err
			}
			return a.Printer.Show(shapes(steps), func(w io.Writer) error {
				rows := make([][]string, len(steps))
				for i, step := range steps {
					rows[i] = []string{strconv.Itoa(step.Version), step.Name, cmp.Or(terminal.StampOf(step.AppliedAt), "missing")}
				}
				return terminal.Table(w, "VERSION NAME APPLIED", rows)
			})
		},
	}
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

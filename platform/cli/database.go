package cli

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
)

func databaseFlag(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "database-url", "", "URL of the database ("+DatabaseVariable+")")
}

// ConnectionsVariable says how many connections to the database a server or worker
// uses at once.
const ConnectionsVariable = "TOOLCRIB_DATABASE_CONNECTIONS"

func connectionsFlag(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVar(n, "database-connections", 0, fmt.Sprintf(
		"connections to the database that are in use at once (default: the URL's pool_max_conns, else %d; %s)",
		store.DefaultMaxConns, ConnectionsVariable))
}

// connections returns how many connections the user wants; zero for the default.
func (a *app) connections(flag int) (int, error) {
	n, where := flag, "--database-connections"
	if text := a.env.Getenv(ConnectionsVariable); n == 0 && text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			return 0, usage("%s %q is no number", ConnectionsVariable, text)
		}
		where = ConnectionsVariable
	}
	if n < 0 || n > store.MaxMaxConns {
		return 0, usage("%s %d is out of range: expected 1 to %d", where, n, store.MaxMaxConns)
	}
	return n, nil
}

// databaseURL returns the database the user means.
func (a *app) databaseURL(flag string) (string, error) {
	url := cmp.Or(flag, a.env.Getenv(DatabaseVariable))
	if url == "" {
		return "", usage("this command needs a database: give --database-url or set %s; toolcrib dev needs none",
			DatabaseVariable)
	}
	return url, nil
}

// logger returns the log of a command that is no server: warnings only.
func (a *app) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.env.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func (a *app) migrateCommand() *cobra.Command {
	up := &cobra.Command{
		Use: "up", Short: "Bring the schema and the built-in tools up to date", Args: operands(),
		Long:    `Does what "toolcrib migrate" does.`,
		Example: `  toolcrib migrate up --database-url postgres://owner@db/toolcrib`,
	}
	cmd := group("migrate", "Bring a database up to date", up, a.migrateStatusCommand())
	var database string
	run := func(cmd *cobra.Command, _ []string) error {
		url, err := a.databaseURL(database)
		if err != nil {
			return err
		}
		done, err := serve.Migrate(cmd.Context(), url, a.logger())
		if err != nil {
			return err
		}
		return a.printer.show(migrated(done), func(w io.Writer) error { return writeMigrated(w, done) })
	}
	up.RunE, cmd.RunE = run, run
	cmd.Long = `Applies the migrations that a database lacks, and brings the platform's own tools
in it up to date. The URL is that of its owner, who may create roles; serve and
worker connect as a role that is granted ` + store.AppRole + ` and nothing more.`
	cmd.Example = `  toolcrib migrate --database-url postgres://owner@db/toolcrib
  toolcrib migrate status`
	databaseFlag(up, &database)
	databaseFlag(cmd, &database)
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
		out.Builtins = append(out.Builtins, versioned(b.Slug, b.Version))
	}
	return out
}

func shapes(steps []store.Migration) []migrationShape {
	out := make([]migrationShape, len(steps))
	for i, step := range steps {
		out[i] = migrationShape{Version: step.Version, Name: step.Name, AppliedAt: stampOf(step.AppliedAt)}
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
		if _, err := fmt.Fprintf(w, "%s %s\n", b.Action, versioned(b.Slug, b.Version)); err != nil {
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
		Use: "status", Short: "Show which migrations a database has", Args: operands(),
		Long:    `Lists the migrations of this version, and when each was applied. It changes nothing.`,
		Example: `  toolcrib migrate status --database-url postgres://owner@db/toolcrib`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := a.databaseURL(database)
			if err != nil {
				return err
			}
			steps, err := store.MigrationStatus(cmd.Context(), url)
			if err != nil {
				return err
			}
			return a.printer.show(shapes(steps), func(w io.Writer) error {
				rows := make([][]string, len(steps))
				for i, step := range steps {
					rows[i] = []string{strconv.Itoa(step.Version), step.Name, cmp.Or(stampOf(step.AppliedAt), "missing")}
				}
				return table(w, "VERSION NAME APPLIED", rows)
			})
		},
	}
	databaseFlag(cmd, &database)
	return cmd
}

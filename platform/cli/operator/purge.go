package operator

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store"
)

// purgedShape is what purging prints as JSON.
type purgedShape struct {
	Runs int `json:"runs"`
}

func (a *app) purgeCommand() *cobra.Command {
	var database string
	var days int
	cmd := &cobra.Command{
		Use: "purge", Short: "Delete runs that ended long ago", Args: cli.Operands(),
		Long: `Deletes the runs of all tenants that ended so many days ago, with their messages,
events, calls and the memory that keeps those calls from being repeated. It works
in batches and may be interrupted and repeated. The URL is that of the owner.`,
		Example: `  toolcrib purge --days 90 --database-url postgres://owner@db/toolcrib`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 {
				return cli.Usagef("say how many days ended runs are kept: --days 90")
			}
			url, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			platform, err := store.OpenPlatform(cmd.Context(), url, store.Options{Logger: a.Logger(), MaxConns: 1})
			if err != nil {
				return err
			}
			defer platform.Close()
			purged, err := platform.PurgeRuns(cmd.Context(), time.Now().AddDate(0, 0, -days).Add(-time.Minute))
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(purgedShape{Runs: purged}, "deleted %d runs", purged)
		},
	}
	cli.DatabaseFlag(cmd, &database)
	cmd.Flags().IntVar(&days, "days", 0, "how many days runs are kept after their end, at least 1")
	return cmd
}

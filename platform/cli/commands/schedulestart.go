package commands

import (
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) scheduleStartsCommand() *cobra.Command {
	var q client.StartQuery
	var p paging
	cmd := cli.Describe(&cobra.Command{
		Use: "starts SCHEDULE", Short: "List the starts of a schedule, newest first", Args: cli.Operands("schedule"),
		ValidArgsFunction: a.completeSchedules,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := collect(p, func(page client.Page) (v1.Page[v1.ScheduleStart], error) {
				q.Page = page
				return c.ListScheduleStarts(cmd.Context(), args[0], q)
			})
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), found, listing[v1.ScheduleStart]{
				header: "AT STATUS RUN REASON~",
				row: func(s v1.ScheduleStart) []string {
					return []string{s.At.Format(time.RFC3339), string(s.Status), s.RunID, s.Reason}
				},
				empty: "nothing was started yet: toolcrib schedule trigger SCHEDULE starts a run now",
			})
		}),
	}, `Lists the times at which a schedule started a run in the last 30 days, with the runs,
and the starts that were refused, with the reasons.`,
		`  toolcrib schedule starts nightly
  toolcrib schedule starts nightly --status refused --json`)
	p.register(cmd)
	cmd.Flags().StringVar(&q.Status, "status", "", "only those that are starting, started or refused")
	return cmd
}

package operator

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// readyTimeout bounds a question whether a process is ready.
const readyTimeout = 5 * time.Second

func (a *app) readyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ready URL",
		Short: "Ask a server or worker whether it can do its work",
		Long: `Reads /readyz at the URL, which is that of a server, or of --metrics-address of a
server or worker. It ends with 0 if the process is ready, and else with 6: a
health check for images, which have no other program.`,
		Example: `  toolcrib ready http://127.0.0.1:9090`,
		Args:    cli.Operands("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := client.New(client.Config{
				Server: args[0], UserAgent: "toolcrib/" + cmp.Or(a.Env.Version, "dev"), Timeout: readyTimeout,
			})
			if err != nil {
				return cli.Usagef("%q: expected a URL, such as http://127.0.0.1:9090", args[0])
			}
			defer c.Close()
			health, err := c.Ready(cmd.Context())
			if err != nil {
				return err
			}
			if health.Status != "ok" {
				return &tool.Error{Kind: tool.Unavailable, Op: "ready", Msg: args[0] + " is not ready: " + health.Status}
			}
			return a.Printer.ShowLine(health, "ready")
		},
	}
}

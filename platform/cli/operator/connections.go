package operator

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store"
)

// ConnectionsVariable says how many connections to the database a server or worker
// uses at once.
const ConnectionsVariable = "TOOLCRIB_DATABASE_CONNECTIONS"

// connectionsFlag adds the flag for the number of database connections.
func connectionsFlag(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVar(n, "database-connections", 0, fmt.Sprintf(
		"connections to the database that are in use at once (default: the URL's pool_max_conns, else %d; %s)",
		store.DefaultMaxConns, ConnectionsVariable))
}

// connections returns how many connections the user wants; zero for the default.
func (a *app) connections(flag int) (int, error) {
	n, where := flag, "--database-connections"
	if text := a.Env.Getenv(ConnectionsVariable); n == 0 && text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			return 0, cli.Usagef("%s %q is no number", ConnectionsVariable, text)
		}
		where = ConnectionsVariable
	}
	if n < 0 || n > store.MaxMaxConns {
		return 0, cli.Usagef("%s %d is out of range: expected 1 to %d", where, n, store.MaxMaxConns)
	}
	return n, nil
}

// Package operator is the commands of operators, which run the platform's
// processes and maintain its database: serve, worker, migrate, encryption,
// payloads, reconcile, purge, retention, ready, deployment, global, admin, and what
// exports and erases tenants. It holds the flags of
// workers, which toolcrib dev has too.
//
// It links the worker and the API, which package cli and package commands do
// not.
package operator

import (
	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// app adds the commands of operators to an invocation.
type app struct {
	*cli.App
	maintenance string // URL of the database for reconciling.
}

// New returns the commands, for [cli.Run].
func New(invocation *cli.App) []*cobra.Command {
	a := &app{App: invocation}
	return []*cobra.Command{
		a.serveCommand(), a.workerCommand(), a.migrateCommand(), a.encryptionCommand(), a.reconcileCommand(),
		a.payloadsCommand(), a.purgeCommand(), a.retentionCommand(), a.readyCommand(), a.deploymentCommand(),
		a.globalCommand(), a.adminCommand(), a.tenantCommand(),
	}
}

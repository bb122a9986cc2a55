// Package commands is the commands of tenants, by noun: tools, agents, MCP
// servers, artifacts, runs, invocations, files, keys, credentials, webhooks, spaces, pipelines,
// tenants, and the audit log.
// They talk to a server through package client.
//
// It uses package cli for connections, usage errors and exit codes, package
// definition for files, and package terminal for output; none of them imports
// it.
package commands

import (
	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// app adds the commands of tenants to an invocation.
type app struct{ *cli.App }

// New returns the commands, for [cli.Run].
func New(invocation *cli.App) []*cobra.Command {
	a := &app{invocation}
	all := []*cobra.Command{
		a.applyCommand(), a.exportCommand(), a.toolCommand(), a.mcpCommand(), a.artifactCommand(), a.agentCommand(),
		a.runCommand(),
		a.invocationsCommand(), a.explainCommand(), a.approvalsCommand(), a.resultsCommand(), a.inputsCommand(),
		a.fileCommand(), a.keyCommand(), a.roleCommand(), a.credentialCommand(), a.scheduleCommand(),
		a.webhookCommand(), a.spaceCommand(),
		a.pipelineCommand(), a.graphCommand(), a.usageCommand(), a.priceCommand(), a.budgetCommand(), a.quotaCommand(),
		a.profileCommand(),
		a.toolsetCommand(),
		a.viewCommand(),
		a.toolSessionCommand(),
		a.embedCommand(),
		a.searchCommand(), a.tenantCommand(), a.auditCommand(),
	}
	a.completeFlags(all)
	return all
}

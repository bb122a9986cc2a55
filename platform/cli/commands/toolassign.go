package commands

import (
	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// everyCaller stands for the absence of an agent in tables.
const everyCaller = "(every caller)"

func (a *app) toolAssignCommand() *cobra.Command {
	var in v1.NewAssignment
	cmd := cli.Describe(&cobra.Command{
		Use: "assign", Short: "Assign a tool to an agent, or a profile to the calls of a tool", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case in.Tool == "":
				return cli.Usagef("name the tool: --tool")
			case in.Agent == "" && in.Profile == "":
				return cli.Usagef("name an agent, a profile or both: --agent, --profile")
			}
			c, err := a.Connect()
			if err != nil {
				return err
			}
			defer c.Close()
			set, err := c.Assign(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(set, "%s is assigned to %s%s", set.Tool, assignedTo(set), under(set))
		},
	}, `Assigns a tool to an agent, whose runs have it from the next one on, if the agent's
definition does not name it. With --profile, what the profile restricts applies to
the agent's calls of the tool; without --agent, to every call of the tool, also by
keys, hosts and MCP clients. Both apply where both are assigned, and the strictest
wins. It replaces what was assigned to the same agent before.`,
		`  toolcrib tool assign --tool getOrder --agent support
  toolcrib tool assign --tool sendMail --agent support --profile careful
  toolcrib tool assign --tool sendMail --profile slow`)
	flags := cmd.Flags()
	flags.StringVar(&in.Tool, "tool", "", "slug or id of the tool")
	flags.StringVar(&in.Agent, "agent", "", "slug or id of the agent (default: every agent and caller)")
	flags.StringVar(&in.Profile, "profile", "", "name of the profile (default: no restriction)")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeTools)
	_ = cmd.RegisterFlagCompletionFunc("agent", a.completeAgents)
	_ = cmd.RegisterFlagCompletionFunc("profile", a.completeProfiles)
	return cmd
}

func (a *app) toolRevokeCommand() *cobra.Command {
	var of, agent string
	cmd := cli.Describe(&cobra.Command{
		Use: "revoke", Short: "Revoke what tool assign did", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if of == "" {
				return cli.Usagef("name the tool: --tool")
			}
			c, err := a.Connect()
			if err != nil {
				return err
			}
			defer c.Close()
			page, err := c.Assignments(cmd.Context(), client.AssignmentQuery{
				Tool: of, Agent: agent, Page: client.Page{Limit: v1.MaxLimit},
			})
			if err != nil {
				return err
			}
			for _, found := range page.Items {
				if (found.AgentID == "") != (agent == "") {
					continue
				}
				gone, err := c.Revoke(cmd.Context(), found.ID)
				if err != nil {
					return err
				}
				return a.Printer.ShowLine(gone, "%s is no longer assigned to %s", gone.Tool, assignedTo(gone))
			}
			return &tool.Error{
				Kind: tool.NotFound, Op: "tool revoke",
				Msg: "the tool is not assigned so: see toolcrib tool list --assignments",
			}
		},
	}, `Revokes an assignment of a tool to an agent, or without --agent that of a profile to
every call of the tool. A profile no longer applies from the next call on. A run that
has the tool by the assignment alone is denied its next call of it.`,
		`  toolcrib tool revoke --tool getOrder --agent support
  toolcrib tool revoke --tool sendMail`)
	flags := cmd.Flags()
	flags.StringVar(&of, "tool", "", "slug or id of the tool")
	flags.StringVar(&agent, "agent", "", "slug or id of the agent (default: that of every agent and caller)")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeTools)
	_ = cmd.RegisterFlagCompletionFunc("agent", a.completeAgents)
	return cmd
}

var assignmentListing = listing[v1.Assignment]{
	header: "TOOL AGENT PROFILE CHANGED BY~",
	row: func(v v1.Assignment) []string {
		agent := v.Agent
		if agent == "" {
			agent = everyCaller
		}
		return []string{v.Tool, agent, v.Profile, terminal.Since(v.ChangedAt), v.ChangedBy}
	},
	empty: "nothing is assigned: agents have the tools of their definitions",
}

func assignedTo(v v1.Assignment) string {
	if v.Agent == "" {
		return "every caller"
	}
	return "agent " + v.Agent
}

func under(v v1.Assignment) string {
	if v.Profile == "" {
		return ""
	}
	return ", within profile " + v.Profile
}

package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) agentCommand() *cobra.Command {
	return group("agent", "Look at agents and publish them",
		a.agentListCommand(), a.agentShowCommand(), a.agentPublishCommand())
}

func (a *app) agentListCommand() *cobra.Command {
	var q client.Page
	cmd := &cobra.Command{
		Use: "list", Short: "List agents", Args: operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.Close()
			page, err := c.ListAgents(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.printer.show(page, func(w io.Writer) error {
				rows := make([][]string, len(page.Items))
				for i, g := range page.Items {
					rows[i] = []string{g.Slug, g.Version, string(g.Status), g.Model, strconv.Itoa(len(g.Tools)), short(g.Description, 60)}
				}
				if err := table(w, "AGENT VERSION STATUS MODEL TOOLS DESCRIPTION", rows); err != nil {
					return err
				}
				return more(w, page.Next)
			})
		},
	}
	pageFlags(cmd, &q)
	return cmd
}

// withAgent makes a command that takes the name of an agent.
func (a *app) withAgent(use, short string, fn func(ctx context.Context, c *client.Client, name string) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " AGENT", Short: short, Args: operands("agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.Close()
			return fn(cmd.Context(), c, args[0])
		},
	}
}

// agentDetail is what showing an agent prints as JSON.
type agentDetail struct {
	Agent    v1.Agent          `json:"agent"`
	Versions []v1.AgentVersion `json:"versions"`
}

func (a *app) agentShowCommand() *cobra.Command {
	return a.withAgent("show", "Show an agent and its versions", func(ctx context.Context, c *client.Client, name string) error {
		g, err := c.Agent(ctx, name)
		if err != nil {
			return err
		}
		versions, err := c.AgentVersions(ctx, g.ID)
		if err != nil {
			return err
		}
		return a.printer.show(agentDetail{g, versions.Items}, func(w io.Writer) error { return writeAgent(w, g, versions.Items) })
	})
}

func writeAgent(w io.Writer, g v1.Agent, versions []v1.AgentVersion) error {
	err := pairs(w,
		"agent", g.Slug, "id", g.ID, "name", g.Name, "description", g.Description, "status", string(g.Status), "draft", g.Version,
		"model", g.Model, "tools", strings.Join(g.Tools, " "), "tool mode", string(g.ToolMode), "limits", compact(g.Limits),
		"published", stampOf(g.PublishedAt), "instructions", g.Instructions)
	if err != nil {
		return err
	}
	rows := make([][]string, len(versions))
	for i, v := range versions {
		state := "snapshot"
		if v.Published {
			state = "published"
		}
		rows[i] = []string{v.Version, state, short(v.Digest, 13), stamp(v.CreatedAt)}
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return table(w, "VERSION STATE DIGEST CREATED", rows)
}

func (a *app) agentPublishCommand() *cobra.Command {
	return a.withAgent("publish", "Publish an agent's draft", func(ctx context.Context, c *client.Client, name string) error {
		published, err := c.PublishAgent(ctx, name)
		if err != nil {
			return err
		}
		return a.printer.show(published, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "published %s\n", clean(versioned(published.Agent.Slug, published.Version.Version)))
			return err
		})
	})
}

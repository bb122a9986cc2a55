package cli

import (
	"context"
	"encoding/json"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) toolCommand() *cobra.Command {
	return group("tool", "Look at tools, change their state, and call them",
		a.toolListCommand(), a.toolShowCommand(), a.toolPublishCommand(), a.toolVersionCommand(),
		a.toolStateCommand(client.Disable, "Stop a tool at once, everywhere"),
		a.toolStateCommand(client.Enable, "Take a disable or a deprecation back"),
		a.toolStateCommand(client.Deprecate, "Refuse new bindings of a tool; existing ones go on"),
		a.toolExplainCommand(), a.toolCallCommand())
}

func (a *app) toolListCommand() *cobra.Command {
	var q client.ToolQuery
	var status, implementation, bucket, callable string
	cmd := &cobra.Command{
		Use: "list", Short: "List tools, the tenant's and the global ones", Args: operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.Close()
			q.Status, q.Implementation, q.ToolType = tool.Status(status), tool.Implementation(implementation), tool.Bucket(bucket)
			q.Callable = tool.Mode(callable)
			page, err := c.ListTools(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.printer.show(page, func(w io.Writer) error { return writeTools(w, page) })
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "draft, published, deprecated or disabled")
	cmd.Flags().StringVar(&implementation, "type", "", "implementation type, such as http")
	cmd.Flags().StringVar(&bucket, "tool-type", "", "built_in, mcp, artifact or custom")
	cmd.Flags().StringVar(&callable, "callable", "", "only what may be called, in production or debug mode")
	cmd.Flags().StringVar(&q.Search, "search", "", "text in slug, name or description")
	pageFlags(cmd, &q.Page)
	return cmd
}

func writeTools(w io.Writer, page v1.Page[v1.Tool]) error {
	rows := make([][]string, len(page.Items))
	for i, t := range page.Items {
		rows[i] = []string{
			t.Slug, t.Version, string(t.Status), string(t.ToolType), string(t.Implementation), string(t.EgressClass),
			t.Scope, short(t.Description, 60),
		}
	}
	if err := table(w, "TOOL VERSION STATUS TOOL_TYPE TYPE EGRESS SCOPE DESCRIPTION", rows); err != nil {
		return err
	}
	return more(w, page.Next)
}

// withTool makes a command that takes the name of a tool.
func (a *app) withTool(use, short string, fn func(ctx context.Context, c *client.Client, name string) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " TOOL", Short: short, Args: operands("tool"),
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

// toolDetail is what showing a tool prints as JSON.
type toolDetail struct {
	Tool     v1.Tool          `json:"tool"`
	Versions []v1.ToolVersion `json:"versions"`
}

func (a *app) toolShowCommand() *cobra.Command {
	return a.withTool("show", "Show a tool and its versions", func(ctx context.Context, c *client.Client, name string) error {
		t, err := c.Tool(ctx, name)
		if err != nil {
			return err
		}
		versions, err := c.ToolVersions(ctx, t.ID)
		if err != nil {
			return err
		}
		return a.printer.show(toolDetail{t, versions.Items}, func(w io.Writer) error { return writeTool(w, t, versions.Items) })
	})
}

func writeTool(w io.Writer, t v1.Tool, versions []v1.ToolVersion) error {
	err := pairs(w,
		"tool", t.Slug, "id", t.ID, "name", t.Name, "description", t.Description, "scope", t.Scope,
		"status", string(t.Status), "active", strconv.FormatBool(t.Active), "draft", t.Version, "type", string(t.Implementation),
		"tool type", string(t.ToolType), "egress", string(t.EgressClass), "policy", string(t.PermissionPolicy),
		"approval", strconv.FormatBool(t.RequiresApproval), "permission", t.RequiredPermission, "execution", compact(t.Execution),
		"config", string(t.Config), "input", string(t.InputSchema), "output", string(t.OutputSchema), "published", stampOf(t.PublishedAt))
	if err != nil {
		return err
	}
	rows := make([][]string, len(versions))
	for i, v := range versions {
		state := "snapshot"
		if v.Published {
			state = "published"
		}
		rows[i] = []string{v.Version, state, short(v.Digest, 13), stamp(v.CreatedAt), v.CreatedBy}
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return table(w, "VERSION STATE DIGEST CREATED BY", rows)
}

// compact writes v as one line of JSON, or nothing for an empty object.
func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "{}" {
		return ""
	}
	return string(raw)
}

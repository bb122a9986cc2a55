package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/nearest"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of looking for a similar name after a failure.
const (
	suggestPatience = 3 * time.Second
	suggestNames    = 1000
)

// suggestTool adds the tool with the most similar name, of those that the key may
// see, as a hint to an error that a tool was not found.
func (a *app) suggestTool(ctx context.Context, c *client.Client, name string, err error) error {
	return a.meant(ctx, "tool", name, err, func(ctx context.Context) ([]string, error) { return toolNames(ctx, c) })
}

// suggestAgent is [app.suggestTool] for agents.
func (a *app) suggestAgent(ctx context.Context, c *client.Client, name string, err error) error {
	return a.meant(ctx, "agent", name, err, func(ctx context.Context) ([]string, error) { return agentNames(ctx, c) })
}

func (a *app) meant(
	ctx context.Context, kind, name string, err error, list func(context.Context) ([]string, error),
) error {
	name, _, _ = strings.Cut(name, "@")
	if err == nil || tool.KindOf(err) != tool.NotFound || tool.ValidID(name) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.Env.Patience, suggestPatience))
	defer cancel()
	known, listErr := list(ctx)
	if listErr != nil { // The error is reported without suggestions.
		return err
	}
	if slices.Contains(known, name) { // Something else was not found, such as a version.
		return err
	}
	hint := fmt.Sprintf("toolcrib %s list shows those there are.", kind)
	if best := nearest.Name(name, known); best != "" {
		hint = fmt.Sprintf("Did you mean %s?", best)
	}
	return cli.WithHint(err, hint)
}

// toolNames lists the tools that the key may see, the first many.
func toolNames(ctx context.Context, c *client.Client) ([]string, error) {
	page, err := collect(paging{limit: suggestNames}, func(p client.Page) (v1.Page[v1.Tool], error) {
		return c.ListTools(ctx, client.ToolQuery{Page: p})
	})
	return each(page.Items, func(t v1.Tool) string { return t.Slug }), err
}

func agentNames(ctx context.Context, c *client.Client) ([]string, error) {
	page, err := collect(paging{limit: suggestNames}, func(p client.Page) (v1.Page[v1.Agent], error) {
		return c.ListAgents(ctx, p)
	})
	return each(page.Items, func(g v1.Agent) string { return g.Slug }), err
}

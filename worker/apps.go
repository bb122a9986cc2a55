package worker

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// Apps returns the client that asks MCP servers for the apps of their tools, under the same rules as calls of the
// plugin's workers.
func (p *Plugin) Apps() Apps { return Apps{p.mcp, p.gate} }

// Apps reads the apps of tools, the pages that show their results. It is safe for concurrent use.
type Apps struct {
	client *mcpcall.Client
	gate   *egress.Gate
}

// ReadApp requests the app of a definition of a tenant's tool from its server. What the app may load from is what it
// asks for, less what no list names that allows hosts to the tenant or the tool: nothing, by default. It asks with
// posts, and the server alone.
func (a Apps) ReadApp(
	ctx context.Context, tenant tool.TenantID, d *tool.Definition, rules tool.EgressRules,
) (*mcpcall.App, error) {
	app, err := a.client.ReadApp(ctx, mcpcall.Access{Tenant: tenant, Class: tool.EgressWrite, Rules: rules}, d.Config)
	if err != nil {
		return nil, err
	}
	for _, domains := range []*[]string{&app.ConnectDomains, &app.ResourceDomains} {
		*domains = slices.DeleteFunc(slices.Clone(*domains), func(d string) bool {
			source, ok := hostname.ParseSource(d)
			return !ok || !a.gate.Names(tenant, rules, source)
		})
	}
	return app, nil
}

package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Advice looks up what a definition names but may be created after it is saved. A
// missing one is a warning, not an error. A nil function gives no warnings.
type Advice struct {
	// Approvable reports whether some key of the tenant may approve calls.
	Approvable func(ctx context.Context, tenant tool.TenantID) (bool, error)
	// ModelProviders lists the model providers of the workers. Nil when they are
	// not known.
	ModelProviders []string
	// HasCredential reports whether the tenant keeps a credential of that name.
	HasCredential func(ctx context.Context, tenant tool.TenantID, ref string) (bool, error)
	// Embeds reports whether a search of a tenant's pipeline, by its id or slug, in a
	// mode, or in the pipeline's own where that is empty, sends its query to an
	// embedding model.
	Embeds func(ctx context.Context, tenant tool.TenantID, pipeline, mode string) (bool, error)
	// Permitted reports whether some key of the tenant holds a permission by its
	// name.
	Permitted func(ctx context.Context, tenant tool.TenantID, permission string) (bool, error)
}

// advise warns of missing things that a tool names, and of calls that will be
// refused. Failed lookups are ignored.
func (r *Registry) advise(ctx context.Context, t *tool.Tool) []string {
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	asks := t.EgressClass == tool.EgressWrite || t.RequiresApproval || t.PermissionPolicy == tool.PermissionAlwaysAsk
	if known := r.opts.Advice.Approvable; known != nil && asks && t.Tenant != "" {
		if ok, err := known(ctx, t.Tenant); err == nil && !ok {
			warn("each call needs an approval, and no key of the tenant may give one, so calls are refused: make one for " +
				"somebody else than who calls, with toolcrib key create NAME --permission approvals.read " +
				"--permission approvals.decide")
		}
	}
	if advise := r.opts.Types.Of(&t.Definition).Advise; advise != nil {
		warnings = append(warnings, advise(t.Config, t.InputSchema)...)
	}
	if r.embedsWithin(ctx, t) {
		warn("egress_class is none, and the pipeline's embedding model is asked with each query, so calls are refused: " +
			"set egress_class to read_only, or mode to full_text in implementation_config")
	}
	if known := r.opts.Advice.HasCredential; known != nil && t.Tenant != "" {
		for _, ref := range wait.Credentials(t.Config) {
			if ok, err := known(ctx, t.Tenant, ref); err == nil && !ok {
				warn("the tenant keeps no credential %q: make it with toolcrib credential set %s --host %s, "+
					"unless the workers have it from their environment", ref, ref, hostIn(t.Config, ref))
			}
		}
	}
	if held := r.opts.Advice.Permitted; held != nil && t.RequiredPermission != "" && t.Tenant != "" {
		if ok, err := held(ctx, t.Tenant, t.RequiredPermission); err == nil && !ok {
			warn("required_permission is %q, which no key of the tenant holds by name: "+
				"make one with toolcrib key create NAME --permission %s", t.RequiredPermission, t.RequiredPermission)
		}
	}
	return warnings
}

// embedsWithin reports whether a tool of egress class none searches in a way that
// sends queries to an embedding model.
func (r *Registry) embedsWithin(ctx context.Context, t *tool.Tool) bool {
	if r.opts.Advice.Embeds == nil || t.EgressClass != tool.EgressNone || t.Tenant == "" {
		return false
	}
	pipeline, _ := definition.PipelineOf(&t.Definition)
	var c struct {
		Mode string `json:"mode"`
	}
	if pipeline == "" || json.Unmarshal(t.Config, &c) != nil {
		return false
	}
	embeds, err := r.opts.Advice.Embeds(ctx, t.Tenant, pipeline, c.Mode)
	return err == nil && embeds
}

// hostIn returns the host, with its port if it has one, of the URL in a
// configuration to which a credential is sent: the host to bind it to. Where the
// configuration has destinations, it is that of the first, by name, that names the
// credential.
func hostIn(config json.RawMessage, ref string) string {
	type place struct {
		URL  string `json:"url"`
		Auth struct {
			CredentialsRef string `json:"credentials_ref"`
		} `json:"auth"`
	}
	var at struct {
		place
		Destinations struct {
			Of map[string]place `json:"of"`
		} `json:"destinations"`
	}
	if err := json.Unmarshal(config, &at); err != nil {
		return "HOST"
	}
	address := at.URL
	for _, name := range slices.Sorted(maps.Keys(at.Destinations.Of)) {
		if one := at.Destinations.Of[name]; one.Auth.CredentialsRef == ref && one.URL != "" {
			address = one.URL
			break
		}
	}
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	if u, err := url.Parse("//" + host); err != nil || u.Host != host || host == "" {
		return "HOST"
	}
	return host
}

// adviseModels warns of an agent without a model, or with models of unknown
// providers.
func (r *Registry) adviseModels(d agent.Definition) []string {
	var out []string
	switch provider, known := r.knowsProvider(d.Model); {
	case d.Model == "":
		out = append(out, "no model: it cannot be published until it has one, such as model: anthropic/claude-sonnet-4-5")
	case !known:
		out = append(out, fmt.Sprintf("no worker here has a model provider %q (model %q): runs of the agent fail at their "+
			"first turn", provider, d.Model))
	}
	for _, m := range d.FallbackModels {
		if provider, known := r.knowsProvider(m.Model); !known {
			out = append(out, fmt.Sprintf("no worker here has a model provider %q (fallback model %q): it is passed over",
				provider, m.Model))
		}
	}
	return out
}

// knowsProvider returns the provider of a model, and whether a worker here may have it.
func (r *Registry) knowsProvider(model string) (provider string, known bool) {
	provider, _, _ = strings.Cut(model, "/")
	return provider, r.opts.Advice.ModelProviders == nil || slices.Contains(r.opts.Advice.ModelProviders, provider)
}

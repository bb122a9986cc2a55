package remote

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/internal/hostname"
)

// The MCP Apps extension, 2026-01-26: tools name a resource of their server, a page that shows their results.
const (
	AppExtension = "io.modelcontextprotocol/ui"
	AppMIMEType  = "text/html;profile=mcp-app"
)

// Those who may call a tool, as its server says.
const (
	ForModel = "model"
	ForApp   = "app"
)

// Limits of a [UI].
const (
	maxAppURI     = 2 << 10
	maxAppDomains = 32
)

// UI is what a server declares about a tool and the app that shows its results. Nil for nothing.
type UI struct {
	// ResourceURI is the app's resource, "ui://…"; empty for none.
	ResourceURI string `json:"resource_uri,omitempty"`
	// Visibility lists who may call the tool: model, app. Empty for both.
	Visibility []string `json:"visibility,omitempty"`
	// ConnectDomains and ResourceDomains are what the app asks to load from, where the server declares
	// that with the tool. What it declares with the resource counts instead.
	ConnectDomains  []string `json:"connect_domains,omitempty"`
	ResourceDomains []string `json:"resource_domains,omitempty"`
}

// Serves reports whether a tool may be called by [ForModel] or [ForApp].
func (u *UI) Serves(who string) bool {
	return u == nil || len(u.Visibility) == 0 || slices.Contains(u.Visibility, who)
}

// App is the page of a tool's results, as its server sends it: HTML of a stranger. ConnectDomains and
// ResourceDomains are what it may load from, as it asks for them or less.
type App struct {
	ResourceURI     string
	HTML            string
	ConnectDomains  []string
	ResourceDomains []string
	PrefersBorder   bool
}

// Check returns what is wrong with u, with the member's name; empty for nothing.
func (u *UI) Check() (member, fault string) {
	switch {
	case u == nil:
		return "", ""
	case u.ResourceURI != "" && !ValidAppURI(u.ResourceURI):
		return "resource_uri", "want ui://, in visible ASCII"
	case len(u.ConnectDomains) > maxAppDomains || len(u.ResourceDomains) > maxAppDomains:
		return "connect_domains", fmt.Sprintf("at most %d domains", maxAppDomains)
	}
	for _, who := range u.Visibility {
		if who != ForModel && who != ForApp {
			return "visibility", fmt.Sprintf("%.32q is neither model nor app", who)
		}
	}
	for name, domains := range map[string][]string{
		"connect_domains": u.ConnectDomains, "resource_domains": u.ResourceDomains,
	} {
		for _, d := range domains {
			if _, ok := hostname.ParseSource(d); !ok {
				return name, fmt.Sprintf("%.128q is no origin such as https://example.com", d)
			}
		}
	}
	return "", ""
}

// ValidAppURI reports whether a URI can name an app's resource.
func ValidAppURI(uri string) bool {
	const scheme = "ui://"
	if len(uri) <= len(scheme) || len(uri) > maxAppURI || uri[:len(scheme)] != scheme {
		return false
	}
	for i := range len(uri) {
		if uri[i] <= ' ' || uri[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Domains returns the origins of a list that can be allowed, without repetitions: those of https and wss.
func Domains(declared []string) []string {
	var out []string
	for _, d := range declared {
		if s, ok := hostname.ParseSource(d); ok && len(out) < maxAppDomains && !slices.Contains(out, s.String()) {
			out = append(out, s.String())
		}
	}
	return out
}

// appMeta is what _meta of a tool and of a resource may have. Members are read one by one: what is malformed is
// absent, but for who may call a tool.
type appMeta struct {
	UI json.RawMessage `json:"ui"`
	// Of drafts of the extension.
	ResourceURI json.RawMessage `json:"ui/resourceUri"` //nolint:tagliatelle // The protocol's name.
}

type uiMeta struct {
	ResourceURI   json.RawMessage `json:"resourceUri"` //nolint:tagliatelle // The protocol's name.
	Visibility    json.RawMessage `json:"visibility"`
	CSP           json.RawMessage `json:"csp"`
	PrefersBorder json.RawMessage `json:"prefersBorder"` //nolint:tagliatelle // The protocol's name.
}

// read returns a value; the zero value where it is absent or of another type.
func read[T any](raw json.RawMessage) T {
	var v T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		var zero T
		return zero
	}
	return v
}

func (m *uiMeta) domains() (connect, resource []string) {
	csp := read[struct {
		Connect  json.RawMessage `json:"connectDomains"`  //nolint:tagliatelle // The protocol's name.
		Resource json.RawMessage `json:"resourceDomains"` //nolint:tagliatelle // The protocol's name.
	}](m.CSP)
	return Domains(read[[]string](csp.Connect)), Domains(read[[]string](csp.Resource))
}

// ReadUI reads _meta of a tool. fault says why a tool with it cannot be used: who may call it is not understood.
// What cannot be shown is no app, and the tool is one without.
func ReadUI(meta json.RawMessage) (ui *UI, fault string) {
	top := read[appMeta](meta)
	m := read[uiMeta](top.UI)
	out := &UI{ResourceURI: read[string](m.ResourceURI)}
	if out.ResourceURI == "" {
		out.ResourceURI = read[string](top.ResourceURI)
	}
	if len(m.Visibility) > 0 && string(m.Visibility) != "null" {
		for _, who := range read[[]string](m.Visibility) {
			if (who == ForModel || who == ForApp) && !slices.Contains(out.Visibility, who) {
				out.Visibility = append(out.Visibility, who)
			}
		}
		if len(out.Visibility) == 0 {
			return nil, "its visibility names neither model nor app"
		}
	}
	if ValidAppURI(out.ResourceURI) {
		out.ConnectDomains, out.ResourceDomains = m.domains()
	} else {
		out.ResourceURI = ""
	}
	if out.ResourceURI == "" && len(out.Visibility) == 0 {
		return nil, ""
	}
	return out, ""
}

// ReadAppMeta reads _meta of an app's resource into a.
func ReadAppMeta(meta json.RawMessage, a *App) {
	m := read[uiMeta](read[appMeta](meta).UI)
	if len(m.CSP) > 0 {
		a.ConnectDomains, a.ResourceDomains = m.domains()
	}
	a.PrefersBorder = read[bool](m.PrefersBorder)
}

package mcpserver

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// ToolsetPath returns where a toolset is offered.
func ToolsetPath(slug string) string { return Path + "/" + slug }

// resourcePath returns the path of all tools, or of a toolset.
func resourcePath(toolset string) string {
	if toolset == "" {
		return Path
	}
	return ToolsetPath(url.PathEscape(toolset))
}

// MetadataPath is where the server describes itself as a protected resource (RFC 9728): there, and with
// [Path], or that of a toolset, behind it.
const MetadataPath = "/.well-known/oauth-protected-resource"

// Metadata is the description of the server as a protected resource. Without issuers it names no
// authorization server: keys are made with the API.
type Metadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers,omitempty"`
	Name                 string   `json:"resource_name"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Scopes               []string `json:"scopes_supported,omitempty"`
}

// ServeMetadata answers with the description of the server, or of a toolset, whether there is one or not. base is the
// scheme and host by which clients reach the server.
func (s *Server) ServeMetadata(w http.ResponseWriter, base, toolset string) {
	var scopes []string
	for _, p := range []string{s.cfg.ListPermission, s.cfg.CallPermission} {
		if p != "" {
			scopes = append(scopes, p)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*") // It is the same for everyone, and no secret.
	_ = json.NewEncoder(w).Encode(Metadata{            // An error cannot be reported any more.
		Resource:             strings.TrimSuffix(base, "/") + resourcePath(toolset),
		AuthorizationServers: s.cfg.AuthorizationServers, Name: "Toolcrib",
		BearerMethods: []string{"header"}, Scopes: scopes,
	})
}

// Challenge returns the value of WWW-Authenticate for a request without a valid key, to the address of a toolset or,
// where that is empty, of all tools. presented says that it had one.
func Challenge(base, toolset string, presented bool) string {
	challenge := `Bearer resource_metadata="` + strings.TrimSuffix(base, "/") + MetadataPath + resourcePath(toolset) + `"`
	if presented {
		challenge += `, error="invalid_token"`
	}
	return challenge
}

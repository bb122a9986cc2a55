package registry

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// ParseDefinitions reads a document that may hold several definitions: what
// [ParseDefinition] reads; a list of servers under "mcp_servers"; and an agent
// that lists its servers under "mcp", {"servers": […]} (reference number S1-44),
// which come before it.
func ParseDefinitions(raw []byte) ([]Definition, error) {
	doc, err := readObject("", raw)
	if err != nil {
		return nil, err
	}
	servers, alone, err := takeServers(doc)
	if err != nil {
		return nil, err
	}
	if alone {
		return servers, nil
	}
	if len(servers) > 0 {
		if raw, err = json.Marshal(doc); err != nil {
			return nil, refuse(tool.Invalid, "", "expected a JSON object")
		}
	}
	d, err := ParseDefinition(raw)
	if err != nil {
		return nil, err
	}
	if len(servers) > 0 && d.Agent == nil {
		return nil, refuse(tool.Invalid, "/mcp", "only an agent lists its servers")
	}
	return append(servers, d), nil
}

// takeServers takes the servers out of a document, and reports whether it held
// nothing else.
func takeServers(doc object) (servers []Definition, alone bool, err error) {
	at := "/mcp_servers"
	list, found := doc["mcp_servers"]
	if raw, nested := doc["mcp"]; nested {
		if found {
			return nil, false, refuse(tool.Invalid, "/mcp", "mcp and mcp_servers are the same field: expected one of them")
		}
		inner, err := readObject("/mcp", raw)
		if err != nil {
			return nil, false, err
		}
		at = "/mcp/servers"
		list, found = inner["servers"]
		for name := range inner {
			if name != "servers" {
				return nil, false, unknownField("/mcp", name, []string{"servers"})
			}
		}
	}
	if !found {
		return nil, false, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, false, refuse(tool.Invalid, at, "expected a list of servers")
	}
	for i, raw := range items {
		path := fmt.Sprintf("%s/%d", at, i)
		entry, err := readObject(path, raw)
		if err != nil {
			return nil, false, err
		}
		s, err := parseServer(path, entry)
		if err != nil {
			return nil, false, err
		}
		servers = append(servers, Definition{Server: s})
	}
	doc.drop("mcp", "mcp_servers")
	if len(doc) == 0 && len(servers) == 0 {
		return nil, false, refuse(tool.Invalid, at, "expected at least one server")
	}
	return servers, len(doc) == 0, nil
}

// parseServer reads a server at a path of its document.
func parseServer(path string, doc object) (*MCPServerSpec, error) {
	for _, alias := range []struct{ from, to string }{
		{"url", "server_url"}, {"credential", "credentials_ref"}, {"tools", "allowed_tools"},
	} {
		if err := doc.move(alias.from, doc, alias.to); err != nil {
			return nil, within(path, err)
		}
	}
	if err := nameServer(doc); err != nil {
		return nil, within(path, err)
	}
	if string(doc["transport"]) == `"http"` { // As others call it.
		doc["transport"] = json.RawMessage(`"` + remote.StreamableHTTP + `"`)
	}
	var credential string
	if err := take(doc, "credentials_ref", &credential); err != nil {
		return nil, within(path, err)
	}
	doc.drop("id", "tenant_id", "created_at", "updated_at", "created_by", "discovered_at", "discovery_error",
		"protocol_version", "server_name", "server_version")
	headers := doc["headers"] // Their names are the server's.
	delete(doc, "headers")
	var s MCPServerSpec
	if err := doc.into(path, &s); err != nil {
		return nil, err
	}
	if headers != nil {
		if err := json.Unmarshal(headers, &s.Headers); err != nil {
			return nil, refuse(
				tool.Invalid, path+"/headers", `expected an object whose values are strings, or {"credentials_ref": "name"}`,
			)
		}
	}
	if credential != "" {
		if s.Auth != nil {
			return nil, refuse(tool.Invalid, path+"/credentials_ref",
				"credentials_ref and auth are the same: expected one of them")
		}
		s.Auth = &remote.Auth{Type: remote.AuthBearer, CredentialsRef: credential}
	}
	return &s, nil
}

// nameServer makes a slug of the name of a server that was given none.
func nameServer(doc object) error {
	if doc["slug"] != nil || doc["name"] == nil {
		return nil
	}
	var name string
	if err := json.Unmarshal(doc["name"], &name); err != nil {
		return refuse(tool.Invalid, "/name", "expected a string")
	}
	raw, err := json.Marshal(ServerSlug(name))
	if err != nil {
		return refuse(tool.Invalid, "/name", "expected a string")
	}
	doc["slug"] = raw
	return nil
}

// ServerSlug makes a slug of what a server is called: "GitHub Issues" becomes
// github-issues. What has no letter to begin with becomes nothing.
func ServerSlug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	slug := strings.Join(words, "-")
	return strings.TrimRight(slug[:min(len(slug), 32)], "-")
}

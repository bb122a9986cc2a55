package definition

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// parseServer reads a server; path is its place in the document, for errors.
func parseServer(path string, doc object) (*ServerSpec, error) {
	for _, alias := range []struct{ from, to string }{
		{"url", "server_url"}, {"credential", "credentials_ref"}, {"tools", "allowed_tools"},
	} {
		if err := doc.move(alias.from, doc, alias.to); err != nil {
			return nil, refusal.Within(path, err)
		}
	}
	if err := nameServer(doc); err != nil {
		return nil, refusal.Within(path, err)
	}
	if string(doc["transport"]) == `"http"` { // A synonym.
		doc["transport"] = json.RawMessage(`"` + remote.StreamableHTTP + `"`)
	}
	var credential string
	if err := take(doc, "credentials_ref", &credential); err != nil {
		return nil, refusal.Within(path, err)
	}
	doc.drop("id", "tenant_id", "created_at", "updated_at", "created_by", "discovered_at", "discovery_error",
		"protocol_version", "server_name", "server_version")
	headers := doc["headers"] // Header names keep their spelling.
	delete(doc, "headers")
	var s ServerSpec
	if err := doc.into(path, &s); err != nil {
		return nil, err
	}
	if headers != nil {
		if err := json.Unmarshal(headers, &s.Headers); err != nil {
			return nil, refusal.New(
				tool.Invalid, path+"/headers", `expected an object whose values are strings, or {"credentials_ref": "name"}`,
			)
		}
	}
	if credential != "" {
		if s.Auth != nil {
			return nil, refusal.New(tool.Invalid, path+"/credentials_ref",
				"credentials_ref and auth are the same: expected one of them")
		}
		s.Auth = &remote.Auth{Type: remote.AuthBearer, CredentialsRef: credential}
	}
	return &s, nil
}

// nameServer derives the slug of a server from its name, if it has no slug.
func nameServer(doc object) error {
	if doc["slug"] != nil || doc["name"] == nil {
		return nil
	}
	var name string
	if err := json.Unmarshal(doc["name"], &name); err != nil {
		return refusal.New(tool.Invalid, "/name", "expected a string")
	}
	raw, err := json.Marshal(ServerSlug(name))
	if err != nil {
		return refusal.New(tool.Invalid, "/name", "expected a string")
	}
	doc["slug"] = raw
	return nil
}

// ServerSlug derives a slug from the name of a server: "GitHub Issues" becomes
// github-issues. It is empty where the name has no ASCII letter or digit.
func ServerSlug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	slug := strings.Join(words, "-")
	return strings.TrimRight(slug[:min(len(slug), 32)], "-")
}

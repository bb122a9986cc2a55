package wait

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// Target is where a call goes: what an approval is bound to, besides the arguments.
type Target struct {
	Content    string `json:"content"`              // Digest of all that the call runs.
	Credential string `json:"credential,omitempty"` // Name of the credential that the call uses.
	Host       string `json:"host,omitempty"`       // That the call is sent to, with its port if it has one.
	// Own lets who made the call confirm it, if permitted to ([ConfirmPermission]): they called
	// the tool directly, and only the tool's own wish for a confirmation asks (checklist Z16).
	// It is part of the binding, so that such a confirmation counts for nothing more.
	Own bool `json:"own,omitempty"`
}

// Aim is a call whose [Target] is looked for.
type Aim struct {
	Tenant         tool.TenantID
	Implementation tool.Implementation
	Builtin        string          // Key of the platform's tool; empty for a tenant's.
	Content        string          // Digest of all that the call runs.
	Config         json.RawMessage // Of the version.
	// Arguments are those that say where the call goes, for the types of which arguments do.
	Arguments json.RawMessage
}

// TargetOf returns the target of calls of a version: the digest of all that they run, and
// what the version's configuration says of credential and host. Types of tools whose
// configuration has no url and no auth have neither.
func TargetOf(content string, config json.RawMessage) Target {
	var read struct {
		URL  string `json:"url"`
		Auth struct {
			CredentialsRef string `json:"credentials_ref"`
		} `json:"auth"`
	}
	_ = json.Unmarshal(config, &read)
	out := Target{Content: content, Credential: read.Auth.CredentialsRef}
	if u, err := url.Parse(read.URL); err == nil {
		out.Host = u.Host
	}
	return out
}

// Bind returns the binding of a call of the target: a digest of it and of the arguments,
// whose own digest ([tool.Digest]) is given. An approval counts for calls with the same
// binding only.
func (t Target) Bind(argumentsDigest string) string {
	raw, err := json.Marshal(struct {
		Target
		Arguments string `json:"arguments"`
	}{t, argumentsDigest})
	if err == nil {
		var digest string
		if digest, err = tool.Digest(raw); err == nil {
			return digest
		}
	}
	panic(fmt.Sprintf("wait: a struct of strings has a digest: %v", err))
}

// Credentials returns the credentials that a configuration names, sorted.
func Credentials(config json.RawMessage) []string {
	var v any
	if json.Unmarshal(config, &v) != nil {
		return nil
	}
	found := make(map[string]bool)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, member := range v {
				if ref, ok := member.(string); ok && k == "credentials_ref" && ref != "" {
					found[ref] = true
				}
				walk(member)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(v)
	return slices.Sorted(maps.Keys(found))
}

package mcpcall

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The generations of the protocol.
const (
	lastStateful   = "2025-11-25" // The last version with sessions.
	firstStateless = "2026-07-28" // The first without.
)

// handshake is the part of the answer to initialize or server/discover that this
// package uses.
type handshake struct {
	method       string
	versions     []string // The negotiated version, or those offered.
	name         string
	version      string
	instructions string
}

var errHandshake = errors.New("the handshake's answer is malformed")

func readHandshake(method string, raw json.RawMessage) (*handshake, error) {
	var r struct {
		Protocol     string          `json:"protocolVersion"`   //nolint:tagliatelle // The protocol's name.
		Supported    []string        `json:"supportedVersions"` //nolint:tagliatelle // The protocol's name.
		Capabilities json.RawMessage `json:"capabilities"`
		ServerInfo   json.RawMessage `json:"serverInfo"` //nolint:tagliatelle // The protocol's name.
		Instructions json.RawMessage `json:"instructions"`
		Meta         struct {
			ServerInfo json.RawMessage `json:"io.modelcontextprotocol/serverInfo"` //nolint:tagliatelle // The protocol's name.
		} `json:"_meta"` //nolint:tagliatelle // The protocol's name.
	}
	if json.Unmarshal(raw, &r) != nil {
		return nil, errHandshake
	}
	h := &handshake{method: method, versions: r.Supported}
	if method == methodInitialize {
		h.versions = []string{r.Protocol}
	}
	if len(h.versions) == 0 || len(h.versions) > 64 || h.versions[0] == "" {
		return nil, errHandshake
	}
	var info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	for _, raw := range []json.RawMessage{r.ServerInfo, r.Meta.ServerInfo} {
		if len(raw) > 0 && json.Unmarshal(raw, &info) == nil { // For display only.
			h.name, h.version = clean(info.Name, maxNameBytes), clean(info.Version, maxNameBytes)
		}
	}
	var text string
	if len(r.Instructions) > 0 && json.Unmarshal(r.Instructions, &text) == nil {
		h.instructions = clean(text, maxInstructionBytes)
	}
	return h, nil
}

// shape returns the handshake as the SDK expects it, and as a session stores it.
func (h *handshake) shape() (json.RawMessage, error) {
	capabilities := map[string]any{"tools": map[string]any{}}
	out := map[string]any{"capabilities": capabilities, "supportedVersions": h.versions, "resultType": "complete"}
	if h.method == methodInitialize {
		out = map[string]any{
			"capabilities": capabilities, "protocolVersion": h.versions[0],
			"serverInfo": map[string]string{"name": h.name, "version": h.version},
		}
	}
	return json.Marshal(out)
}

// speaks reports whether this client supports a protocol version.
func speaks(version string) bool {
	return slices.Contains(mcp.SupportedProtocolVersions(), version)
}

package definition

import (
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// ParseAll reads a document of one or more definitions: one that [Parse] reads, a
// list of servers under "mcp_servers", or an agent with its servers under "mcp",
// {"servers": […]} (reference number S1-44). Servers come before the agent.
func ParseAll(raw []byte) ([]Definition, error) {
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
			return nil, refusal.New(tool.Invalid, "", "expected an object")
		}
	}
	d, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	if len(servers) > 0 && d.Agent == nil {
		return nil, refusal.New(tool.Invalid, "/mcp", "only an agent lists its servers")
	}
	return append(servers, d), nil
}

// takeServers removes the servers from a document, and reports whether it held
// nothing else.
func takeServers(doc object) (servers []Definition, alone bool, err error) {
	at := "/mcp_servers"
	list, found := doc["mcp_servers"]
	if raw, nested := doc["mcp"]; nested {
		if found {
			return nil, false, refusal.New(tool.Invalid, "/mcp", "mcp and mcp_servers are the same field: expected one of them")
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
		return nil, false, refusal.New(tool.Invalid, at, "expected a list of servers")
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
		return nil, false, refusal.New(tool.Invalid, at, "expected at least one server")
	}
	return servers, len(doc) == 0, nil
}

package operator

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/tool"
)

// mcpCommands reads the programs that mcp tools may run, by their names, from
// an operator's file:
//
//	{"files": {"path": "/usr/bin/mcp-files", "args": ["/srv/files"], "env": ["LANG=C"], "dir": "/srv", "tenants": ["0198…"]}}
func mcpCommands(file string) (map[string]mcpcall.Command, error) {
	if file == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(file) //nolint:gosec // The operator's.
	if err != nil {
		return nil, cli.Usagef("--mcp-commands: %v", err)
	}
	var listed map[string]struct {
		Path string   `json:"path"`
		Args []string `json:"args"`
		Env  []string `json:"env"`
		Dir  string   `json:"dir"`
		// Tenants are the ids of those whose tools may run it; all when absent.
		Tenants []tool.TenantID `json:"tenants"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&listed); err != nil {
		return nil, cli.Usagef("--mcp-commands: %s: %v", file, err)
	}
	commands := make(map[string]mcpcall.Command, len(listed))
	for name, c := range listed {
		if !filepath.IsAbs(c.Path) {
			return nil, cli.Usagef("--mcp-commands: %s: the path of %q is not absolute", file, name)
		}
		for _, id := range c.Tenants {
			if !tool.ValidID(string(id)) {
				return nil, cli.Usagef("--mcp-commands: %s: %q of %q is not the id of a tenant", file, id, name)
			}
		}
		commands[name] = mcpcall.Command{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Tenants: c.Tenants}
	}
	return commands, nil
}

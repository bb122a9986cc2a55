package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
)

// mcpCommands reads the programs that mcp tools may run, by their names, from
// an operator's file:
//
//	{"files": {"path": "/usr/bin/mcp-files", "args": ["/srv/files"], "env": ["LANG=C"], "dir": "/srv"}}
func mcpCommands(file string) (map[string]mcpcall.Command, error) {
	if file == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(file) //nolint:gosec // The operator's.
	if err != nil {
		return nil, usage("--mcp-commands: %v", err)
	}
	var listed map[string]struct {
		Path string   `json:"path"`
		Args []string `json:"args"`
		Env  []string `json:"env"`
		Dir  string   `json:"dir"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&listed); err != nil {
		return nil, usage("--mcp-commands: %s: %v", file, err)
	}
	commands := make(map[string]mcpcall.Command, len(listed))
	for name, c := range listed {
		if !filepath.IsAbs(c.Path) {
			return nil, usage("--mcp-commands: %s: the path of %q is not absolute", file, name)
		}
		commands[name] = mcpcall.Command{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir}
	}
	return commands, nil
}

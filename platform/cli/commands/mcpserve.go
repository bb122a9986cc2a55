package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/mcpbridge"
	"github.com/toolcrib/toolcrib/toolset"
)

func (a *app) mcpServeCommand() *cobra.Command {
	var patience time.Duration
	var of string
	cmd := cli.Describe(&cobra.Command{
		Use: "serve", Short: "Offer the server's tools to a local MCP client, over stdin and stdout", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			if patience <= 0 {
				return cli.Usagef("--patience %s: expected more than 0", patience)
			}
			if of != "" && !toolset.ValidSlug(of) {
				return cli.Usagef("--toolset %q: expected the slug of a toolset", of)
			}
			return mcpbridge.Run(cmd.Context(), mcpbridge.Config{ //nolint:wrapcheck // It says what failed.
				Server: c.MCP(of), In: a.Env.In, Out: a.Env.Out, Patience: patience,
				Logger: slog.New(slog.NewTextHandler(a.Env.Err, nil)),
			})
		}),
	}, `Is for MCP clients that start their servers as programs: it passes their messages on
to the MCP endpoint of the server, with the key. It outlives restarts of the server,
and calls of tools are made once. toolcrib mcp config prints the entry for a client's configuration.`,
		`  toolcrib mcp serve
  toolcrib mcp serve --context production
  toolcrib mcp serve --toolset support`)
	toolsetFlag(cmd, &of)
	cmd.Flags().DurationVar(
		&patience, "patience", mcpbridge.DefaultPatience, "how long a request is sent again while the server is away",
	)
	return cmd
}

// toolsetFlag adds the flag that chooses a toolset instead of all tools of the key.
func toolsetFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "toolset", "", "slug of the toolset that is offered (default: every tool of the key)")
}

// Clients of the Model Context Protocol for which there are snippets, and their transports.
const (
	clientClaude = "claude"
	clientCursor = "cursor"
	clientVSCode = "vscode"

	overHTTP  = "http"
	overStdio = "stdio"
)

// mcpClients are the clients, with the file that takes their snippet.
var mcpClients = []struct{ name, file string }{
	{clientClaude, ".mcp.json of a project (Claude Code)"},
	{clientCursor, ".cursor/mcp.json of a project, or ~/.cursor/mcp.json"},
	{clientVSCode, ".vscode/mcp.json of a workspace"},
}

func mcpClientNames() []string {
	names := make([]string, len(mcpClients))
	for i, c := range mcpClients {
		names[i] = c.name
	}
	return names
}

var serverName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

func (a *app) mcpConfigCommand() *cobra.Command {
	var transport, name, of string
	cmd := cli.Describe(&cobra.Command{
		Use: "config CLIENT", Short: "Print how an MCP client is configured for the server", Args: cli.Operands("client"),
		ValidArgs: mcpClientNames(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			i := slices.Index(mcpClientNames(), args[0])
			switch {
			case i < 0:
				return cli.Usagef("%q is no client that is known: expected %s", args[0], strings.Join(mcpClientNames(), ", "))
			case transport != overHTTP && transport != overStdio:
				return cli.Usagef("--transport %q: expected %s or %s", transport, overHTTP, overStdio)
			case of != "" && !toolset.ValidSlug(of):
				return cli.Usagef("--toolset %q: expected the slug of a toolset", of)
			case !serverName.MatchString(name):
				return cli.Usagef("--name %q: expected a letter and up to 63 letters, digits, - and _", name)
			}
			known := ""
			if flag := cmd.Flag("context"); flag != nil {
				known = flag.Value.String()
			}
			snippet := mcpSnippet(args[0], snippetOf{transport, name, strings.TrimSuffix(c.Server(), "/"), known, of})
			return a.Printer.Show(snippet, func(w io.Writer) error {
				raw, err := json.MarshalIndent(snippet, "", "  ")
				if err != nil {
					return fmt.Errorf("writing the configuration: %w", err)
				}
				_, _ = fmt.Fprintf(a.Env.Err, "for %s; the key is not part of it\n", mcpClients[i].file)
				_, err = fmt.Fprintf(w, "%s\n", raw)
				return err //nolint:wrapcheck // It is the terminal's.
			})
		}),
	}, `Prints the entry of the server for the configuration file of Claude Code, Cursor or
VS Code. The key is never part of it: clients take it from the variable TOOLCRIB_KEY,
VS Code asks for it, and with --transport stdio --context NAME it stays in the context.`,
		`  toolcrib mcp config claude > .mcp.json
  toolcrib mcp config vscode --transport stdio
  toolcrib mcp config cursor --transport stdio --context production
  toolcrib mcp config claude --toolset support`)
	toolsetFlag(cmd, &of)
	cmd.Flags().StringVar(&transport, "transport", overHTTP, "http, or stdio for a client that starts toolcrib mcp serve")
	cmd.Flags().StringVar(&name, "name", "toolcrib", "what the client calls the server")
	return cmd
}

// mcpEntry is a server in the configuration of a client.
type mcpEntry struct {
	Type    string            `json:"type,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// mcpInput is what VS Code asks for.
type mcpInput struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	Description string `json:"description"`
	Password    bool   `json:"password"`
}

// mcpConfig is the configuration file of a client.
type mcpConfig struct {
	Servers    map[string]mcpEntry `json:"servers,omitempty"`    // Of VS Code.
	Inputs     []mcpInput          `json:"inputs,omitempty"`     // Of VS Code.
	MCPServers map[string]mcpEntry `json:"mcpServers,omitempty"` //nolint:tagliatelle // The clients' name.
}

// keyInput is the id of the key among what VS Code asks for.
const keyInput = "toolcrib-key"

// snippetOf is what the configuration of a client says.
type snippetOf struct {
	transport string
	as        string // What the client calls the server.
	server    string // The URL.
	known     string // The context that has server and key; empty for none.
	toolset   string // Slug; empty for all tools.
}

// mcpSnippet returns the configuration of a client, in which the key is a variable of the client's.
func mcpSnippet(name string, of snippetOf) mcpConfig {
	key := map[string]string{
		clientClaude: "${" + cli.KeyVariable + "}",
		clientCursor: "${env:" + cli.KeyVariable + "}",
		clientVSCode: "${input:" + keyInput + "}",
	}[name]
	entry := mcpEntry{
		Type: overHTTP, URL: of.server + "/mcp", Headers: map[string]string{"Authorization": "Bearer " + key},
	}
	if of.toolset != "" {
		entry.URL += "/" + of.toolset
	}
	if name == clientCursor {
		entry.Type = "" // The address says it.
	}
	asks := name == clientVSCode
	if of.transport == overStdio {
		entry = mcpEntry{Type: overStdio, Command: "toolcrib", Args: []string{"mcp", "serve"}}
		if of.toolset != "" {
			entry.Args = append(entry.Args, "--toolset", of.toolset)
		}
		if of.known != "" {
			entry.Args, asks = append(entry.Args, "--context", of.known), false
		} else {
			entry.Args = append(entry.Args, "--server", of.server)
			entry.Env = map[string]string{cli.KeyVariable: key}
		}
	}
	servers := map[string]mcpEntry{cmp.Or(of.as, "toolcrib"): entry}
	if name != clientVSCode {
		return mcpConfig{MCPServers: servers}
	}
	out := mcpConfig{Servers: servers}
	if asks {
		out.Inputs = []mcpInput{{Type: "promptString", ID: keyInput, Description: "API key of Toolcrib", Password: true}}
	}
	return out
}

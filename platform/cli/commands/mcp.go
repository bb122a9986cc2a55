package commands

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) mcpCommand() *cobra.Command {
	return cli.Describe(cli.Group("mcp", "Attach MCP servers, and offer tools to MCP clients",
		a.mcpAttachCommand(), a.mcpUpdateCommand(), a.mcpListCommand(), a.mcpShowCommand(), a.mcpRefreshCommand(),
		a.mcpDiffCommand(),
		a.mcpApproveCommand(), a.mcpTrustCommand(true), a.mcpTrustCommand(false),
		a.mcpDetachCommand(), a.mcpServeCommand(), a.mcpConfigCommand()),
		`Attaching an MCP server makes drafts of those of its tools that are allowed. Each
pins the server's definition: when the server changes it, that tool stops, and
no other, until the change is approved and published.

The other way round, serve and config offer the server's tools to MCP clients.`,
		`  toolcrib mcp attach files --url https://files.example.com/mcp --allow read_file,list_dir
  toolcrib tool publish filesReadFile
  toolcrib mcp refresh files
  toolcrib mcp diff files
  toolcrib mcp approve files read_file --publish`)
}

// mcpFlags describe a server on a command line.
type mcpFlags struct {
	url, transport, command, credential, auth, header, name string
	headers, allow                                          []string
	trust                                                   bool
}

func (f *mcpFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "where the server is")
	flags.StringVar(
		&f.transport, "transport", "", "streamable_http, sse or stdio (default: streamable_http, with --command stdio)",
	)
	flags.StringVar(&f.command, "command", "", "for stdio: the name that the workers' operator gave a command")
	flags.StringVar(&f.credential, "credential", "", "name of the credential that is sent")
	flags.StringVar(&f.auth, "auth", "bearer", "how the credential is sent: bearer, basic or header")
	flags.StringVar(&f.header, "auth-header", "", "the header, with --auth header")
	flags.StringArrayVar(&f.headers, "header", nil, "header that is sent, as 'Name: value'; no secrets; may be repeated")
	flags.StringSliceVar(&f.allow, "allow", nil, "the server's tools that are imported; * for all")
	flags.BoolVar(
		&f.trust, "trust-hints", false, "take the server's word that a tool only reads, which then needs no approval",
	)
	flags.StringVar(&f.name, "name", "", "what people call it (default: the slug)")
}

// into writes the flags that were given into a definition.
func (f *mcpFlags) into(cmd *cobra.Command, d *v1.MCPServerDefinition) error {
	given := cmd.Flags().Changed
	if given("url") {
		d.URL, d.Command = f.url, ""
	}
	if given("command") {
		d.Command, d.URL, d.Transport = f.command, "", "stdio"
	}
	if given("transport") {
		d.Transport = f.transport
	}
	if given("credential") {
		d.Auth = &v1.MCPAuth{Type: f.auth, CredentialsRef: f.credential, Header: f.header}
	} else if given("auth") || given("auth-header") {
		return cli.Usagef("--auth and --auth-header go with --credential")
	}
	if given("header") {
		d.Headers = make(map[string]any, len(f.headers))
		for _, text := range f.headers {
			name, value, ok := strings.Cut(text, ":")
			if !ok {
				return cli.Usagef("--header %q: expected 'Name: value'", text)
			}
			d.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if given("allow") {
		d.AllowedTools = f.allow
	}
	if given("trust-hints") {
		d.TrustHints = f.trust
	}
	if given("name") {
		d.Name = f.name
	}
	return nil
}

func (a *app) mcpAttachCommand() *cobra.Command {
	var flags mcpFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "attach SERVER", Short: "Attach an MCP server, and import what is allowed", Args: cli.Operands("slug"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			d := v1.MCPServerDefinition{Slug: args[0]}
			if err := flags.into(cmd, &d); err != nil {
				return err
			}
			if d.URL == "" && d.Command == "" {
				return cli.Usagef("%s needs --url, or --command", cmd.CommandPath())
			}
			done := a.Progress("asking %s what it offers", args[0])
			report, err := c.AttachMCPServer(cmd.Context(), d)
			done()
			if err != nil {
				return err
			}
			return a.showRefresh(report)
		}),
	}, `Attaches a server under a slug, asks it what it offers, and makes a draft of each
tool that is allowed. Without --allow nothing is imported: the list tells what
there is. A draft asks for approval at each call, whatever the server says of
the tool, unless --trust-hints takes its word.

The workers must be able to reach the server: see --allow-host of the worker.`,
		`  toolcrib mcp attach files --url https://files.example.com/mcp --allow read_file,list_dir --credential files-token
  toolcrib mcp attach tickets --url https://tickets.example.com/sse --transport sse --allow '*'`)
	flags.register(cmd)
	return cmd
}

func (a *app) mcpUpdateCommand() *cobra.Command {
	var flags mcpFlags
	var enable, disable bool
	cmd := cli.Describe(&cobra.Command{
		Use: "update SERVER", Short: "Change how an MCP server is reached, or what is allowed", Args: cli.Operands("server"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			s, err := c.MCPServer(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			d := v1.MCPServerDefinition{
				Slug: s.Slug, Name: s.Name, URL: s.URL, Transport: s.Transport, Command: s.Command, Headers: s.Headers,
				Auth:         s.Auth,
				AllowedTools: s.AllowedTools, TrustHints: s.TrustHints, Status: s.Status, Revision: s.Revision,
			}
			if err := flags.into(cmd, &d); err != nil {
				return err
			}
			if enable {
				d.Status = "active"
			}
			if disable {
				d.Status = "disabled"
			}
			if s, err = c.UpdateMCPServer(cmd.Context(), s.ID, d); err != nil {
				return err
			}
			return a.Printer.ShowLine(s, "%s is updated; import what is newly allowed with toolcrib mcp refresh %s",
				terminal.Clean(s.Slug), terminal.Clean(s.Slug))
		}),
	}, `Changes what the flags name, and leaves the rest. A tool that is no longer allowed
stops at once. A disabled server is not asked, and none of its tools is called.`,
		`  toolcrib mcp update files --allow read_file,list_dir,search
  toolcrib mcp update files --disable`)
	flags.register(cmd)
	cmd.Flags().BoolVar(&disable, "disable", false, "stop all of its tools")
	cmd.Flags().BoolVar(&enable, "enable", false, "take that back")
	cmd.MarkFlagsMutuallyExclusive("disable", "enable")
	return cmd
}

func (a *app) mcpListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List the attached MCP servers", (*client.Client).MCPServers, listing[v1.MCPServer]{
		header: "SERVER STATUS ALLOWED~ ASKED WHERE~",
		row: func(s v1.MCPServer) []string {
			return []string{
				s.Slug, serverState(s), strings.Join(s.AllowedTools, " "), terminal.SinceOf(s.DiscoveredAt), s.URL + s.Command,
			}
		},
		empty: "no servers yet: attach one with toolcrib mcp attach SLUG --url URL",
	}), `Lists the servers with what is allowed of each, and when it was asked last what
it offers.`, `  toolcrib mcp list
  toolcrib mcp list --json`)
}

func serverState(s v1.MCPServer) string {
	switch {
	case s.Status != "active":
		return s.Status
	case s.DiscoveryError != "":
		return "silent"
	default:
		return s.Status
	}
}

// mcpDetail is what showing a server prints as JSON.
type mcpDetail struct {
	Server v1.MCPServer        `json:"server"`
	Tools  v1.Page[v1.MCPTool] `json:"tools"`
}

func (a *app) mcpShowCommand() *cobra.Command {
	var p paging
	var state string
	cmd := cli.Describe(&cobra.Command{
		Use: "show SERVER", Short: "Show an MCP server and what it offers", Args: cli.Operands("server"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			s, err := c.MCPServer(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			tools, err := collect(p, func(page client.Page) (v1.Page[v1.MCPTool], error) {
				return c.MCPServerTools(cmd.Context(), s.ID, state, page)
			})
			if err != nil {
				return err
			}
			return a.Printer.Show(mcpDetail{s, tools}, func(w io.Writer) error {
				if err := writeServer(w, s, tools.Items); err != nil {
					return err
				}
				return a.more(tools.Next)
			})
		}),
	}, `Shows how a server is reached, what it said of itself when it was asked last, and
its tools: offered ones are not allowed; pinned ones may run as they are; the
others are stopped, and the list says why.`, `  toolcrib mcp show files
  toolcrib mcp show files --state changed`)
	p.register(cmd)
	cmd.Flags().StringVar(&state, "state", "", "offered, pinned, changed, approved, gone or refused")
	return cmd
}

func writeServer(w io.Writer, s v1.MCPServer, tools []v1.MCPTool) error {
	credential := ""
	if s.Auth != nil {
		credential = s.Auth.CredentialsRef + " (" + s.Auth.Type + ")"
	}
	err := terminal.Pairs(w,
		"server", s.Slug, "id", s.ID, "name", s.Name, "status", s.Status, "transport", s.Transport, "url", s.URL, "command",
		s.Command,
		"credential", credential, "allowed", strings.Join(s.AllowedTools, " "), "trust hints",
		strconv.FormatBool(s.TrustHints), "results", writeTrust(s.Trusted),
		"calls itself", strings.TrimSpace(s.ServerName+" "+s.ServerVersion), "protocol", s.ProtocolVersion,
		"asked", terminal.StampSinceOf(s.DiscoveredAt), "failed", s.DiscoveryError)
	row := func(t v1.MCPTool) []string {
		return []string{t.Name, t.State, t.Tool, string(t.ToolStatus), terminal.Since(t.ChangedAt), t.Reason}
	}
	return errors.Join(err, gap(w), terminal.Table(w, "NAME STATE TOOL STATUS CHANGED WHY~", each(tools, row)))
}

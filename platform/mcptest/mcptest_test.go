package mcptest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/platform/mcptest"
	"github.com/toolcrib/toolcrib/tool"
)

// scenarioVariable is the variable that names the scenario to the suite's
// client.
const scenarioVariable = "MCP_CONFORMANCE_SCENARIO"

func TestMain(m *testing.M) {
	if scenario := os.Getenv(scenarioVariable); scenario != "" {
		if err := play(scenario, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:forbidigo // This is main.
		}
		return
	}
	os.Exit(m.Run()) //nolint:forbidigo // This is main.
}

// inapplicable are the suite's scenarios for clients that do what ours does not
// do, on purpose, with the reason. All others are played.
var inapplicable = map[string]string{
	"auth/":                               "credentials are an operator's, by credentials_ref; nobody is sent to sign in",
	"elicitation-sep1034-client-defaults": "nobody is asked on behalf of a server",
	"sep-2322-client-request-state":       "nobody is asked on behalf of a server",
	"sep-2640-":                           "skills of servers are not used",
}

// TestConformanceSuite plays every scenario of the official suite that a
// client of tools can play.
func TestConformanceSuite(t *testing.T) {
	t.Parallel()

	node, folder := mcptest.Install(t)
	program, err := os.Executable()
	require.NoError(t, err)
	suite := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, node, append([]string{
			"--import", filepath.Join(folder, "node20.mjs"),
			filepath.Join(folder, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"),
		}, args...)...)
		cmd.Dir = t.TempDir() // It leaves its results there.
		return cmd
	}
	listed, err := suite(t.Context(), "list").CombinedOutput()
	require.NoError(t, err, "%s", listed)
	scenarios := clientScenarios(string(listed))
	require.Greater(t, len(scenarios), 8, "the suite has scenarios for clients: %s", listed)

	played := 0
	for _, s := range scenarios {
		if why := lacks(s.name); why != "" {
			t.Logf("%s is not played: %s", s.name, why)
			continue
		}
		for _, version := range s.versions {
			played++
			t.Run(s.name+"@"+version, func(t *testing.T) {
				t.Parallel()

				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				for left := triesOf(s.name); ; left-- {
					out, err := suite(ctx, "client", "--command", program, "--scenario", s.name, "--spec-version", version,
						"--timeout", "120000", "--verbose").CombinedOutput()
					if err == nil {
						return
					}
					require.Greater(t, left, 1, "%v: %s", err, out)
				}
			})
		}
	}
	require.GreaterOrEqual(t, played, 8)
}

// triesOf says how often a scenario may be played until it passes: one of them
// measures half a second, which a busy machine does not always keep.
func triesOf(name string) int {
	if name == "sse-retry" {
		return 10
	}
	return 1
}

type scenario struct {
	name     string
	versions []string
}

// clientScenarios reads the suite's own list.
func clientScenarios(list string) []scenario {
	_, list, _ = strings.Cut(list, "Client scenarios")
	list, _, _ = strings.Cut(list, "\n\n")
	var out []scenario
	for line := range strings.Lines(list) {
		name, versions, ok := strings.Cut(strings.TrimSpace(line), " [")
		if !ok || !strings.HasPrefix(name, "- ") {
			continue
		}
		all := strings.Split(strings.TrimSuffix(versions, "]"), ",")
		all = slices.DeleteFunc(all, func(v string) bool { return v < "2025-06-18" || v == "extension" })
		out = append(out, scenario{strings.TrimPrefix(name, "- "), all})
	}
	return out
}

func lacks(name string) string {
	for prefix, why := range inapplicable {
		if strings.HasPrefix(name, prefix) {
			return why
		}
	}
	return ""
}

// play is the client that the suite looks at: our executor, as a worker has it.
func play(scenario, address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := newClient(address, nil)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	found, err := c.Discover(ctx, mcpcall.Access{Tenant: "t1", Class: tool.EgressReadOnly}, remote.Server{URL: address})
	if err != nil {
		return fmt.Errorf("discovering: %w", err)
	}
	call := func(name string, arguments any) error {
		raw, err := json.Marshal(arguments)
		if err != nil {
			return err
		}
		_, err = mcpcall.New(c).Execute(ctx, callOf(configOf(address, name), string(raw)))
		return err
	}
	switch scenario {
	case "tools_call":
		return call("add_numbers", map[string]int{"a": 5, "b": 3})
	case "sse-retry":
		return call("test_reconnection", map[string]any{})
	case "json-schema-2020-12-preservation":
		for _, t := range found.Tools {
			if t.Name == "json_schema_2020_12_tool" {
				return call("json_schema_echo", map[string]any{"schema": t.InputSchema})
			}
		}
		return fmt.Errorf("the focal tool is not among %d", len(found.Tools))
	case "http-custom-headers":
		var asked struct {
			Calls []struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"toolCalls"` //nolint:tagliatelle // The suite's name.
		}
		if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &asked); err != nil {
			return fmt.Errorf("reading what to call: %w", err)
		}
		for _, a := range asked.Calls {
			if err := call(a.Name, a.Arguments); err != nil {
				fmt.Fprintln(os.Stderr, a.Name, err) // The suite decides what that means.
			}
		}
		return nil
	default:
		for _, t := range found.Tools {
			if err := call(t.Name, map[string]any{"region": "us-west1"}); err != nil {
				fmt.Fprintln(os.Stderr, t.Name, err)
			}
		}
		return nil
	}
}

func newClient(address string, commands map[string]mcpcall.Command) (*mcpcall.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	gate, err := egress.New(egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: []string{u.Host}} },
	})
	if err != nil {
		return nil, err
	}
	return mcpcall.NewClient(mcpcall.Options{Gate: gate, Commands: commands}), nil
}

func callOf(config, arguments string) *tool.Call {
	return &tool.Call{
		CallIdentity: tool.CallIdentity{
			CallID:    "call_1",
			EffectID:  "effect-1",
			Principal: tool.Principal{Tenant: "t1"},
			RunID:     "run-1",
		}, Attempt: 1,
		Egress: tool.EgressWrite,
		Version: &tool.Version{Slug: "remote", Number: "1.0.0", Snapshot: tool.Snapshot{
			Definition: tool.Definition{Implementation: tool.MCP, Config: json.RawMessage(config)},
		}},
		Arguments: json.RawMessage(arguments),
	}
}

func configOf(address, name string) string {
	return fmt.Sprintf(`{"server_url": %q, "tool_name": %q}`, address, name)
}

// TestAServerOfOthers calls the tools of a server that others have written,
// over both ways that it speaks.
func TestAServerOfOthers(t *testing.T) {
	t.Parallel()

	t.Run("streamable HTTP", func(t *testing.T) {
		t.Parallel()

		address := mcptest.Everything(t)
		requireEverything(t, address, nil, remote.Server{URL: address})
	})
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()

		path, args := mcptest.EverythingCommand(t)
		requireEverything(t, "http://127.0.0.1:1", map[string]mcpcall.Command{"everything": {Path: path, Args: args}},
			remote.Server{Transport: remote.Stdio, Command: "everything"})
	})
}

func requireEverything(t *testing.T, address string, commands map[string]mcpcall.Command, server remote.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c, err := newClient(address, commands)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	found, err := c.Discover(ctx, mcpcall.Access{Tenant: "t1", Class: tool.EgressReadOnly}, server)
	require.NoError(t, err)
	require.NotEmpty(t, found.Name)
	require.Empty(t, found.Skipped)
	at := slices.IndexFunc(found.Tools, func(t remote.Tool) bool { return t.Name == "echo" })
	require.GreaterOrEqual(t, at, 0)

	raw, err := json.Marshal(mcpcall.Config{Server: server, ToolName: "echo", DefinitionDigest: found.Tools[at].Digest})
	require.NoError(t, err)
	for range 2 {
		res, err := mcpcall.New(c).Execute(ctx, callOf(string(raw), `{"message": "hello"}`))
		require.NoError(t, err)
		require.False(t, res.IsError)
		require.Contains(t, res.Content[0].Text, "hello")
	}
	raw, err = json.Marshal(mcpcall.Config{Server: server, ToolName: "get-tiny-image"})
	require.NoError(t, err)
	res, err := mcpcall.New(c).Execute(ctx, callOf(string(raw), `{}`))
	require.NoError(t, err)
	require.True(
		t,
		slices.ContainsFunc(
			res.Content,
			func(b tool.Content) bool { return b.Type == tool.ContentImage && len(b.Data) > 0 },
		),
	)
}

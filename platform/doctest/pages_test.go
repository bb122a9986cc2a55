package doctest_test

import (
	"context"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// Pages in the order in which a reader takes them; each goes on where the one
// before it ended.
var (
	// On the stack of make dev.
	firstSteps = []string{
		"start.md", "tools/http.md", "credentials.md", "openapi.md", "cli.md", "api.md", "test-a-tool.md", "approvals.md",
		"governance.md", "usage.md", "profiles.md", "audit.md", "identity.md", "mcp-server.md", "views.md",
		"webhooks.md", "schedules.md", "fields.md",
		"tools/mcp.md", "mcp-servers.md", "tools/internal.md", "tools/artifact.md", "tools/prompt.md", "tools/provider.md",
		"tools/agent_call.md", "tools/task.md", "tools/composition.md", "tools/graph.md", "agent-spec.md",
		"tools/rag_retrieval.md",
		"tools/client.md",
		"tools/input.md", "files.md", "spaces.md", "tool-sessions.md",
	}
	// On a PostgreSQL and a Temporal of the reader's.
	ownTemporal = []string{"your-temporal.md", "plugin.md", "tools/function.md", "tools/custom.md", "thin-tools.md"}
	// Without anything to run.
	descriptive = []string{
		"README.md", "concepts.md", "lifecycle.md", "failure-semantics.md", "upgrades.md", "install.md", "deployment.md",
		"backup.md", "sizing.md", "security.md", "console.md", "console-pages.md", "embeds.md",
	}
)

// All instructions of the first pages work, on what make dev starts.
func TestFirstSteps(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.shell = newShell(t, s.dir, s.environ)
	s.read(firstSteps)
}

// All instructions of the pages for readers who already run Temporal work.
func TestOwnTemporal(t *testing.T) {
	t.Parallel()

	stack, err := embedded.Start(t.Context(), embedded.Config{Throwaway: true, Headless: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = stack.Stop(context.WithoutCancel(t.Context())) })
	s := newSite(t)
	database, err := url.Parse(stack.DatabaseURL())
	require.NoError(t, err)
	s.superuser = stack.DatabaseURL()
	s.addresses[temporalAddress], s.addresses[postgresAddress] = stack.TemporalAddress(), database.Host
	s.environ = append(
		s.environ,
		"PATH="+filepath.Join(s.dir, "platform", "bin")+":"+filepath.Join(s.dir, "commands")+":"+os.Getenv("PATH"),
	)
	s.shell = newShell(t, s.dir, s.environ)
	s.read(ownTemporal)
}

// read follows the instructions of pages, one after the other. All of a page
// runs in one terminal.
func (s *site) read(pages []string) {
	s.t.Helper()
	for _, page := range pages {
		for _, b := range readPage(s.t, page) {
			if !s.t.Run(b.String(), func(t *testing.T) { s.try(t, b) }) {
				s.t.FailNow() // What comes after it would fail too.
			}
		}
		s.requireApplied(page)
	}
}

// requireApplied makes sure that every definition of a page was applied.
func (s *site) requireApplied(page string) {
	s.t.Helper()
	for _, b := range readPage(s.t, page) {
		if b.kind != yamlKind {
			continue
		}
		name, _, err := b.named("#")
		require.NoError(s.t, err)
		require.True(s.t, slices.ContainsFunc(s.commands, func(c string) bool {
			return (strings.Contains(c, "toolcrib apply") || strings.Contains(c, "toolcrib tool import")) &&
				(strings.Contains(c, name) || strings.Contains(c, "-f "+path.Dir(name)+"\n"))
		}), "%s: %s is never applied", b, name)
	}
}

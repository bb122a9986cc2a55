package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

const globalDefinition = "slug: searchShop\nname: Search the shop\ndescription: Finds goods.\n" +
	"implementation_type: internal\n" +
	"input_schema: {type: object, properties: {words: {type: string}}, required: [words]}\n"

// An operator makes, publishes, switches on, stops and deletes a global tool, and tenants see each step.
func TestGlobalTools(t *testing.T) {
	t.Parallel()
	s := setup(t)
	require.Equal(t, cli.ExitUsage, s.run(t, "global", "list").code, "it needs the URL of the database")
	s.vars[cli.DatabaseVariable] = s.URL
	file := s.write(t, "shop.yaml", globalDefinition)
	require.Contains(t, s.ok(t, "global", "apply", "-f", file, "--dry-run"), "created searchShop")
	require.NotContains(t, s.ok(t, "global", "list"), "searchShop")
	require.Contains(t, s.ok(t, "global", "apply", "-f", file), "created searchShop@")
	require.Contains(t, s.ok(t, "global", "apply", "-f", file), "unchanged searchShop")
	require.Regexp(t, `searchShop +\S+ +draft +internal +off`, s.ok(t, "global", "list"))

	require.Contains(t, s.ok(t, "global", "publish", "searchShop"), "is published")
	off := s.run(t, "tool", "call", "searchShop", "--arg", "words=x")
	require.Equal(t, cli.ExitConflict, off.code)
	require.Contains(t, off.err, "switched off", "a global tool is off until it is switched on")
	s.ok(t, "tool", "override", "set", "searchShop", "--on", "--all-tenants", "--description", "Finds goods of ours.")
	require.Contains(t, s.ok(t, "tool", "list", "--callable", "production"), "Finds goods of ours.")
	require.Contains(t, s.ok(t, "global", "show", "searchShop"), "on")

	changed := s.write(t, "shop.yaml", globalDefinition+"category: shop\nversion: 1.0.5\n")
	s.ok(t, "global", "apply", "-f", changed)
	require.Contains(t, s.ok(t, "global", "version", "searchShop", "--version", "1.0.6"), "searchShop@1.0.6 is a snapshot")
	require.Contains(t, s.ok(t, "global", "show", "searchShop"), "1.0.6 (snapshot)")
	s.ok(t, "global", "publish", "searchShop", "--version", "1.0.6")

	require.Contains(t, s.ok(t, "global", "deprecate", "searchShop"), "searchShop is deprecated")
	require.Contains(t, s.ok(t, "global", "enable", "searchShop"), "searchShop is published")
	require.Equal(t, cli.ExitConflict, s.run(t, "global", "delete", "searchShop").code)
	require.Contains(t, s.ok(t, "global", "disable", "searchShop"), "searchShop is disabled")
	require.NotContains(t, s.ok(t, "tool", "list", "--callable", "production", "--json"), "searchShop")
	require.Contains(t, s.ok(t, "global", "delete", "searchShop"), "searchShop is deleted")
	require.Equal(t, cli.ExitNotFound, s.run(t, "global", "show", "searchShop").code)
}

func TestGlobalToolsAreChecked(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = s.URL
	s.ok(t, "apply", "-f", s.write(t, "own.yaml", "slug: own\nimplementation_type: internal\n"))
	_, err := registry.New(s.Platform.Registry(), registry.Options{}).SyncBuiltins(t.Context(), []registry.BuiltinSpec{{
		Key: "noop", Version: "1.0.0", Definition: tool.Definition{Name: "Noop", Implementation: tool.Internal},
	}})
	require.NoError(t, err)
	for definition, want := range map[string]string{
		"kind: agent\nslug: desk\nmodel: scripted/x\n":                    "only tools can be global",
		"slug: bad\nimplementation_type: nothing\n":                       "nothing",
		"slug: noop\nimplementation_type: internal\n":                     "comes with the platform",
		"slug: web\nimplementation_type: http\nimplementation_config: {}": "url",
	} {
		refused := s.run(t, "global", "apply", "-f", s.write(t, "t.yaml", definition))
		require.NotZero(t, refused.code, definition)
		require.Contains(t, refused.err, want)
	}
	require.Equal(t, cli.ExitNotFound, s.run(t, "global", "disable", "own").code, "a tenant's tool is not the platform's")
	require.Equal(t, cli.ExitUsage, s.run(t, "global", "version", "noop").code)
	require.Contains(t, s.ok(t, "global", "disable", "noop"), "noop is disabled")
	require.Contains(t, s.ok(t, "global", "enable", "noop"), "noop is published")
}

package definition_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli/definition"
)

const contract = `---
slug: addNumbers
implementation_type: internal
input_schema:
  type: object
  properties: {a: {type: number, description: One.}}
---
# Add numbers

Adds two numbers.

## When to use

When a sum is asked for.

## When not to use

Never for dates.

## Examples

A small sum:

` + "```json\n{\"a\": 1}\n```\n\n```json expect\n{\"success\": true}\n```\n\n### Nothing\n\n```json\n{}\n```\n\n```sh\nls\n```\n"

func TestParseContract(t *testing.T) {
	t.Parallel()

	c, err := definition.ParseContract("TOOL.md", []byte(contract))
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(c.Raw, &fields))
	require.Equal(t, "tool", fields["kind"])
	require.Equal(t, "Add numbers", fields["name"])
	require.Equal(t, "Adds two numbers. Use it: When a sum is asked for. Never for dates.", fields["description"])
	require.Len(t, c.Examples, 2)
	require.Equal(t, "A small sum", c.Examples[0].Name)
	require.JSONEq(t, `{"a":1}`, string(c.Examples[0].Arguments))
	require.JSONEq(t, `{"success":true}`, string(c.Examples[0].Expect))
	require.Equal(t, "Nothing", c.Examples[1].Name)
	require.Equal(t, 24, c.Examples[0].Line)
	at := c.Fault("/input_schema/properties/a", "wrong")
	require.Equal(t, 6, at.Line, "places are those of the file")

	own := "---\nslug: a\ndescription: Own.\nname: Mine\n---\n# Other\n\nText.\n"
	c, err = definition.ParseContract("TOOL.md", []byte(own))
	require.NoError(t, err)
	require.JSONEq(t, `{"kind":"tool","slug":"a","description":"Own.","name":"Mine"}`, string(c.Raw))
}

func TestContractFaults(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"":                                 "TOOL.md:1:1: a contract begins with its definition",
		"# Add\n":                          "TOOL.md:1:1: a contract begins with its definition",
		"---\nslug: a\n":                   "TOOL.md:1:1: the definition has no end",
		"---\n---\n":                       "TOOL.md:1:1: the definition is empty",
		"---\nslug: [\n---\n":              "TOOL.md:2:",
		"---\nslug: a\nslug: b\n---\n":     "TOOL.md:3:",
		"---\nslug: a\nkind: agent\n---\n": "TOOL.md:3:1: a contract defines a tool",
		"---\nslug: a\n---\n## Examples\n```json\n{\n  \"a\" 1\n}\n```\n": "TOOL.md:7:1: this is no JSON",
		"---\nslug: a\n---\n## Examples\n```json\n[]\n```\n":              "TOOL.md:5:1: an example is a JSON object",
		"---\nslug: a\n---\n## Examples\n```json expect\n{}\n```\n":       "TOOL.md:5:1: there is no call before it",
		"---\nslug: a\n---\ntext\n```json\n{}\n":                          "TOOL.md:5:1: the block of code has no end",
	} {
		_, err := definition.ParseContract("TOOL.md", []byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestReadContracts(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	_, err := definition.ReadContracts(t.Context(), []string{dir}, nil)
	require.ErrorContains(t, err, "there is no TOOL.md")
	write("a/TOOL.md", contract)
	write("b/more.tool.md", contract)
	write("README.md", "# Read me")
	write(".git/TOOL.md", "")
	read, err := definition.ReadContracts(t.Context(), []string{dir}, nil)
	require.NoError(t, err)
	require.Len(t, read, 2)
}

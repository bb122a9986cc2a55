package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

const searchYAML = `kind: tool
slug: search
description: Searches.
implementation_type: internal
version: 1.0.0
publish: true
input_schema:
  type: object
  required: [id]
  additionalProperties: false
  properties:
    id: {type: string}
    limit: {type: integer, maximum: 10}
    exact: {type: boolean}
    tags: {type: array, items: {type: string}}
    ratio: {type: number}
    a.b: {type: integer}
    filter: {type: object, properties: {status: {type: string, enum: [open, closed]}, age: {type: integer}}}
`

// Arguments from NAME=VALUE have the types of the tool's schema.
func TestTypedArguments(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "t.yaml", searchYAML))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"id=4711"}, `{"id":"4711"}`},
		{[]string{"id=a=b", "limit=5", "exact=true", "ratio=0.5"}, `{"exact":true,"id":"a=b","limit":5,"ratio":0.5}`},
		{[]string{"id=x", "tags=a"}, `{"id":"x","tags":["a"]}`},
		{[]string{"id=x", "tags=a", "tags=2"}, `{"id":"x","tags":["a","2"]}`},
		{[]string{"id=x", `tags=["a","b"]`}, `{"id":"x","tags":["a","b"]}`},
		{[]string{"id=x", "filter.status=open", "filter.age=3"}, `{"filter":{"age":3,"status":"open"},"id":"x"}`},
		{[]string{"id=x", "a.b=3"}, `{"a.b":3,"id":"x"}`},
		{[]string{"id="}, `{"id":""}`},
	} {
		args := []string{"tool", "call", "search", "--dry-run"}
		for _, pair := range c.args {
			args = append(args, "--arg", pair)
		}
		require.Equal(t, "would call search with "+c.want+"\n", s.ok(t, args...))
	}
	require.JSONEq(t, `{"id":"x"}`, s.ok(t, "tool", "call", "search", "--args", `{"id":"x"}`, "--dry-run", "--json"))
}

// What does not fit says where, what was expected and what was found.
func TestArgumentFaults(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "t.yaml", searchYAML))
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{
			cli.ExitInvalid, "at /limit expected integer, got a string of 3 characters",
			[]string{"--arg", "id=x", "--arg", "limit=ten"},
		},
		{
			cli.ExitInvalid, "at /limit expected a number of at most 10, got an integer",
			[]string{"--arg", "id=x", "--arg", "limit=11"},
		},
		{cli.ExitInvalid, "at /id expected string (it is required), got nothing", []string{"--arg", "limit=1"}},
		{
			cli.ExitInvalid, "at /colour expected no such property (there are a.b, exact",
			[]string{"--arg", "id=x", "--arg", "colour=red"},
		},
		{
			cli.ExitInvalid, `at /filter/status expected one of "open", "closed"`,
			[]string{"--arg", "id=x", "--arg", "filter.status=lost"},
		},
		{cli.ExitInvalid, "at /exact expected boolean, got", []string{"--args", `{"id":"x","exact":[1,2]}`, "--dry-run"}},
		{cli.ExitInvalid, "the arguments are not JSON", []string{"--args", "{id"}},
		{cli.ExitUsage, "expected NAME=VALUE", []string{"--arg", "limit"}},
		{cli.ExitUsage, "not as both", []string{"--arg", "id=x", "--args", "{}"}},
		{cli.ExitUsage, "id is an object already", []string{"--arg", "id.x=1", "--arg", "id=x"}},
		{cli.ExitUsage, "id has a value already", []string{"--arg", "id=1", "--arg", "id.x=x"}},
		{cli.ExitInvalid, `version constraint "^^1": expected`, []string{"--arg", "id=x", "--version", "^^1"}},
		{cli.ExitNotFound, "9", []string{"--arg", "id=x", "--version", "9.0.0"}},
	} {
		got := s.run(t, append([]string{"tool", "call", "search"}, c.args...)...)
		require.Equal(t, c.code, got.code, "%s: %s", c.args, got.err)
		require.Contains(t, got.err, c.says)
	}
	got := s.run(t, "tool", "call", "serch", "--arg", "id=x")
	require.Equal(t, cli.ExitNotFound, got.code)
	require.Contains(t, got.err, "Did you mean search?")
}

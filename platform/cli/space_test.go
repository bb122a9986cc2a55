package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// The life of a space.
func TestSpaceCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	require.Contains(t, s.run(t, "space", "list").err, "no spaces")
	var made v1.Space
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "space", "create", "launch", "--name", "Launch", "--max-hops", "2",
		"--json")), &made))
	require.Equal(t, 2, made.MaxHops)
	taken := s.run(t, "space", "create", "launch")
	require.NotEqual(t, cli.ExitOK, taken.code)
	require.Contains(t, taken.err, `there is a space "launch" already`)
	require.Contains(t, s.ok(t, "space", "list"), "launch")
	require.Contains(t, s.ok(t, "space", "show", made.ID), "Launch")

	require.Contains(t, s.ok(t, "space", "members", "launch"), "person:key:")
	require.Equal(t, "added person:user:ana\n", s.ok(t, "space", "add", "launch", "person:user:ana"))
	wrong := s.run(t, "space", "add", "launch", "ana")
	require.Contains(t, wrong.err, "agent:<slug> or person:<subject>")
	require.Equal(t, "removed person:user:ana\n", s.ok(t, "space", "remove", "launch", "person:user:ana"))

	require.Contains(t, s.run(t, "space", "read", "launch").err, "nothing was said yet")
	require.Equal(t, "posted as message 1: it wakes 0 agents\n", s.ok(t, "space", "post", "launch", "hello"))
	require.Contains(t, s.ok(t, "space", "read", "launch"), "  hello\n")
	var page v1.Page[v1.SpaceMessage]
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "space", "read", "launch", "--json")), &page))
	require.Len(t, page.Items, 1)

	require.Contains(t, s.ok(t, "space", "update", "launch", "--archived"), "archived")
	require.Contains(t, s.run(t, "space", "post", "launch", "x").err, "the space is archived")
	opened := s.ok(t, "space", "update", "launch", "--archived=false", "--description", "Getting it out")
	require.Contains(t, opened, "Getting it out")
	require.Equal(t, "deleted launch\n", s.ok(t, "space", "delete", "launch"))
}

// A message that wakes an agent without a version to run says why it did not.
func TestSpaceSaysWhyNobodyWasWoken(t *testing.T) {
	t.Parallel()

	s := setup(t)
	_, err := s.Store.CreateAgent(t.Context(), agent.Agent{
		Tenant: s.tenant, Slug: "desk", Status: tool.Draft, Version: "1.0.0",
		Definition: agent.Definition{Name: "desk", Model: "scripted/x", Spaces: []string{agent.AllSpaces}},
	})
	require.NoError(t, err)
	s.ok(t, "space", "create", "launch", "--member", "agent:desk")
	require.Contains(t, s.ok(t, "space", "post", "launch", "hello"), "it wakes 1 agent")
	require.Eventually(t, func() bool {
		return strings.Contains(s.ok(t, "space", "read", "launch"), "woke nobody: agent desk was not woken")
	}, 30*time.Second, 100*time.Millisecond)
}

// What an agent keeps is listed, shown and deleted.
func TestSpaceNotesCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	desk, err := s.Store.CreateAgent(t.Context(), agent.Agent{
		Tenant: s.tenant, Slug: "desk", Status: tool.Draft, Version: "1.0.0",
		Definition: agent.Definition{Name: "desk", Model: "scripted/x", Spaces: []string{agent.AllSpaces}},
	})
	require.NoError(t, err)
	require.Contains(t, s.run(t, "space", "notes", "list", "desk").err, "no notes")
	require.NoError(t, s.Store.SetNotes(t.Context(), s.tenant, desk.ID, []space.Note{
		{Kind: space.Memory, Key: "seat", Text: "Prefers the aisle."}, {Kind: space.Goal, Key: "trip", Text: "Book it."},
	}))
	require.Contains(t, s.ok(t, "space", "notes", "list", "desk"), "Prefers the aisle.")
	var page v1.Page[v1.Note]
	goals := s.ok(t, "space", "notes", "list", "desk", "--kind", "goal", "--json")
	require.NoError(t, json.Unmarshal([]byte(goals), &page))
	require.Len(t, page.Items, 1)
	require.Contains(t, s.ok(t, "space", "notes", "show", "desk", "memory", "seat"), "Prefers the aisle.")
	require.Equal(t, "deleted the memory seat\n", s.ok(t, "space", "notes", "delete", "desk", "memory", "seat"))
	require.Contains(t, s.run(t, "space", "notes", "show", "desk", "memory", "seat").err, "has no memory with the key")
	require.Contains(t, s.run(t, "space", "notes", "delete", "desk", "memory", "seat").err, "has no memory with the key")
}

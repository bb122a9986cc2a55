package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/space"
)

// What agents keep is for those who may see every space: listed in pages, by kind and key, and deleted.
func TestNotesOverTheAPI(t *testing.T) {
	t.Parallel()

	b := setup(t)
	desk := seedAgentInSpaces(t, b, "desk")
	require.NoError(t, b.Store.SetNotes(t.Context(), b.tenant, desk.ID, []space.Note{
		{Kind: space.Plan, Key: "a", Text: "Ask first.", Done: true},
		{Kind: space.Memory, Key: "seat / window?", Text: "Prefers the aisle."},
		{Kind: space.Memory, Key: "..", Text: "A key is any text."},
		{Kind: space.Goal, Key: "a", Text: "Book it."},
	}))
	manager, reader := b.Key(t, b.tenant, "spaces.write"), b.Key(t, b.tenant, "spaces.read", "agents.read")
	const path = "/v1/agents/desk/notes"
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodGet, path, "", reader).status)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodDelete, path+"?kind=goal&key=a", "", reader).status)

	list := func(query string) v1.Page[v1.Note] {
		return as[v1.Page[v1.Note]](t, b.do(t, http.MethodGet, path+query, "", manager), http.StatusOK)
	}
	first := list("?limit=3")
	require.Len(t, first.Items, 3)
	require.Equal(t, []space.NoteKind{space.Goal, space.Memory, space.Memory},
		[]space.NoteKind{first.Items[0].Kind, first.Items[1].Kind, first.Items[2].Kind})
	rest := list("?limit=3&cursor=" + first.Next)
	require.Len(t, rest.Items, 1)
	require.True(t, rest.Items[0].Done)
	require.Empty(t, rest.Next)
	require.Len(t, list("?kind=memory").Items, 2)
	require.Len(t, list("?key=a").Items, 2)
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodGet, path+"?kind=dream", "", manager).status)
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodGet, path+"?cursor=eA", "", manager).status)
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodDelete, path+"?kind=goal", "", manager).status)

	seat := path + "?kind=memory&key=seat+%2F+window%3F"
	gone := as[v1.Note](t, b.do(t, http.MethodDelete, seat, "", manager), http.StatusOK)
	require.Equal(t, "Prefers the aisle.", gone.Text)
	missing := b.do(t, http.MethodDelete, seat, "", manager)
	require.Equal(t, http.StatusNotFound, missing.status)
	require.Contains(t, missing.problem(t).Detail, `the agent has no memory with the key "seat / window?"`)
	require.Len(t, list("").Items, 3)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/agents/none/notes", "", manager).status)
}

// The owner of a key of another tenant neither sees nor deletes notes, even where an agent has the same name.
func TestNotesAreOfTheirTenant(t *testing.T) {
	t.Parallel()

	b := setup(t)
	desk := seedAgentInSpaces(t, b, "desk")
	theirs := []space.Note{{Kind: space.Goal, Key: "a", Text: "x"}}
	require.NoError(t, b.Store.SetNotes(t.Context(), b.tenant, desk.ID, theirs))
	stranger := b.Key(t, b.Tenant(t), "*")
	for _, name := range []string{"desk", desk.ID} {
		path := "/v1/agents/" + name + "/notes"
		require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, path, "", stranger).status)
		require.Equal(t, http.StatusNotFound, b.do(t, http.MethodDelete, path+"?kind=goal&key=a", "", stranger).status)
	}
	kept, err := b.Store.ListNotes(t.Context(), b.tenant, desk.ID, "")
	require.NoError(t, err)
	require.Len(t, kept, 1)
}

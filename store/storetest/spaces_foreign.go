package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// spaceCases are the foreign cases of spaces, their wakes, and what agents keep.
var spaceCases = map[string]func(t *testing.T, f foreign){
	"CreateSpace": func(t *testing.T, f foreign) {
		t.Helper()
		f.Space(t, "launch")
		_, err := f.Store.CreateSpace(t.Context(), space.Space{Tenant: f.stranger, Slug: "launch", Name: "theirs"})
		require.NoError(t, err, "slugs are of a tenant")
		all, err := f.Store.ListSpaces(t.Context(), space.Query{Tenant: f.Tenant})
		require.NoError(t, err)
		require.Len(t, all, 1)
	},
	"FindSpace": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		for _, name := range []string{sp.ID, sp.Slug} {
			_, err := f.Store.FindSpace(t.Context(), f.stranger, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListSpaces": func(t *testing.T, f foreign) {
		t.Helper()
		f.Space(t, "launch")
		all, err := f.Store.ListSpaces(t.Context(), space.Query{Tenant: f.stranger})
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"ChangeSpace": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		stolen := sp
		stolen.Tenant, stolen.Name = f.stranger, "theirs"
		_, err := f.Store.ChangeSpace(t.Context(), stolen)
		RequireKind(t, tool.NotFound, err)
		f.requireSameSpace(t, sp, 0)
	},
	"DeleteSpace": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		_, err := f.Store.DeleteSpace(t.Context(), f.stranger, sp.ID, 0)
		RequireKind(t, tool.NotFound, err)
		f.requireSameSpace(t, sp, 0)
	},
	"AddSpaceMember": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		eve := space.Member{Kind: space.Person, Name: "user:eve"}
		_, err := f.Store.AddSpaceMember(t.Context(), f.stranger, sp.ID, eve, "x")
		RequireKind(t, tool.NotFound, err)
		f.requireSameSpace(t, sp, 0)
		theirs, err := f.Store.CreateSpace(t.Context(), space.Space{Tenant: f.stranger, Slug: "own", Name: "own"})
		require.NoError(t, err)
		desk := space.Member{Kind: space.Agent, Name: f.Agent.Slug}
		_, err = f.Store.AddSpaceMember(t.Context(), f.stranger, theirs.ID, desk, "x")
		RequireKind(t, tool.NotFound, err)
	},
	"RemoveSpaceMember": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		_, err := f.Store.RemoveSpaceMember(t.Context(), f.stranger, sp.ID, Ada)
		RequireKind(t, tool.NotFound, err)
		f.requireSameSpace(t, sp, 0)
	},
	"ListSpaceMembers": func(t *testing.T, f foreign) {
		t.Helper()
		all, err := f.Store.ListSpaceMembers(t.Context(), f.stranger, f.Space(t, "launch").ID)
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"IsSpaceMember": func(t *testing.T, f foreign) {
		t.Helper()
		is, err := f.Store.IsSpaceMember(t.Context(), f.stranger, f.Space(t, "launch").ID, Ada)
		require.NoError(t, err)
		require.False(t, is)
	},
	"PostMessage": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		_, err := f.Store.PostMessage(t.Context(), space.Post{
			SpaceID: sp.ID, From: Ada, Principal: tool.Principal{Tenant: f.stranger, Subject: "user:ada"}, Text: "x",
		})
		RequireKind(t, tool.NotFound, err)
		f.requireSameSpace(t, sp, 0)
		require.Empty(t, f.wakes(t))
	},
	"FindSpaceMessage": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		_, err := f.Store.FindSpaceMessage(t.Context(), f.stranger, sp.ID, f.Post(t, sp, "x").Message.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListSpaceMessages": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		f.Post(t, sp, "x")
		all, err := f.Store.ListSpaceMessages(t.Context(), space.MessageQuery{Tenant: f.stranger, SpaceID: sp.ID})
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"ListSpaceChanges": func(t *testing.T, f foreign) {
		t.Helper()
		sp := f.Space(t, "launch")
		f.Post(t, sp, "x")
		all, err := f.Store.ListSpaceChanges(t.Context(), f.stranger, sp.ID, 0, 10)
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"EnterSpace": func(t *testing.T, f foreign) {
		t.Helper()
		f.Space(t, "launch")
		_, err := f.Store.EnterSpace(t.Context(), f.stranger, f.Run.ID, f.Agent.ID, "launch")
		RequireKind(t, tool.NotFound, err)
		place, err := f.Store.RunSpace(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Nil(t, place)
	},
	"LeaveSpace": func(t *testing.T, f foreign) {
		t.Helper()
		f.Entered(t, f.Space(t, "launch"))
		left, err := f.Store.LeaveSpace(t.Context(), f.stranger, f.Run.ID)
		require.NoError(t, err)
		require.Nil(t, left)
		place, err := f.Store.RunSpace(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.NotNil(t, place)
	},
	"RunSpace": func(t *testing.T, f foreign) {
		t.Helper()
		f.Entered(t, f.Space(t, "launch"))
		place, err := f.Store.RunSpace(t.Context(), f.stranger, f.Run.ID)
		require.NoError(t, err)
		require.Nil(t, place)
	},
	"SetNotes": func(t *testing.T, f foreign) {
		t.Helper()
		err := f.Store.SetNotes(t.Context(), f.stranger, f.Agent.ID, []space.Note{{Kind: space.Goal, Key: "a", Text: "x"}})
		RequireKind(t, tool.NotFound, err)
		f.requireNotes(t, 0)
	},
	"DeleteNotes": func(t *testing.T, f foreign) {
		t.Helper()
		f.note(t)
		gone, err := f.Store.DeleteNotes(t.Context(), f.stranger, f.Agent.ID, space.Goal, []string{"a"})
		require.NoError(t, err)
		require.Empty(t, gone)
		f.requireNotes(t, 1)
	},
	"ListNotes": func(t *testing.T, f foreign) {
		t.Helper()
		f.note(t)
		all, err := f.Store.ListNotes(t.Context(), f.stranger, f.Agent.ID, "")
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"DeliverWake": func(t *testing.T, f foreign) {
		t.Helper()
		key := f.wakeKey(t)
		key.Tenant = f.stranger
		begin, err := f.Store.DeliverWake(t.Context(), key, renderTexts)
		require.NoError(t, err)
		require.Nil(t, begin)
		require.Len(t, f.wakes(t), 1)
	},
	"AcceptWokenRun": func(t *testing.T, f foreign) {
		t.Helper()
		begin, err := f.Store.DeliverWake(t.Context(), f.wakeKey(t), renderTexts)
		require.NoError(t, err)
		a := f.wokenRun(t, *begin)
		a.Run.Tenant, a.Run.AgentID = f.stranger, ""
		_, err = f.Store.AcceptWokenRun(t.Context(), a, *begin)
		require.ErrorIs(t, err, space.ErrWakeOver)
		require.Len(t, f.wakes(t), 1)
	},
	"EndWake": func(t *testing.T, f foreign) {
		t.Helper()
		key := f.wakeKey(t)
		begin, err := f.Store.DeliverWake(t.Context(), key, renderTexts)
		require.NoError(t, err)
		begin.Tenant, begin.UptoSeq = f.stranger, 100
		require.NoError(t, f.Store.EndWake(t.Context(), *begin, "stolen"))
		require.Len(t, f.wakes(t), 1)
		found, err := f.Store.FindSpace(t.Context(), f.Tenant, key.SpaceID)
		require.NoError(t, err)
		require.Empty(t, f.message(t, found).NotWoken)
	},
}

// requireSameSpace requires that a space has its members, and so many messages.
func (f foreign) requireSameSpace(t *testing.T, want space.Space, messages int) {
	t.Helper()
	got, err := f.Store.FindSpace(t.Context(), f.Tenant, want.ID)
	require.NoError(t, err)
	require.Equal(t, want, got)
	members, err := f.Store.ListSpaceMembers(t.Context(), f.Tenant, want.ID)
	require.NoError(t, err)
	require.Len(t, members, 2)
	require.Len(t, f.messages(t, want), messages)
}

func (f foreign) note(t *testing.T) {
	t.Helper()
	err := f.Store.SetNotes(t.Context(), f.Tenant, f.Agent.ID, []space.Note{{Kind: space.Goal, Key: "a", Text: "x"}})
	require.NoError(t, err)
}

func (f foreign) requireNotes(t *testing.T, n int) {
	t.Helper()
	all, err := f.Store.ListNotes(t.Context(), f.Tenant, f.Agent.ID, "")
	require.NoError(t, err)
	require.Len(t, all, n)
}

func (f foreign) wakeKey(t *testing.T) space.WakeKey {
	t.Helper()
	f.Post(t, f.Space(t, "launch"), "x")
	require.Eventually(t, func() bool { return len(f.wakes(t)) == 1 }, time.Second, time.Millisecond)
	return f.wakes(t)[0]
}

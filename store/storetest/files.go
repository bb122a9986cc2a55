package storetest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/file/filetest"
	"github.com/toolcrib/toolcrib/tool"
)

// manyFiles bounds nothing that a test does.
var manyFiles = file.Quota{TenantBytes: 1 << 40, CallBytes: 1 << 40, CallFiles: 1000}

// File records a file whose content is stored, which nothing uses.
func (f *Fixture) File(tb testing.TB, change func(*file.File)) file.File {
	tb.Helper()
	made := file.File{
		ID: NewID(tb), Tenant: f.Tenant, Name: "plan.png", MediaType: file.PNG, Size: 4, SHA256: strings.Repeat("0", 64),
		Width: 2, Height: 3, Kind: file.Uploaded, Location: "postgres", CreatedBy: "key:x",
	}
	if change != nil {
		change(&made)
	}
	require.NoError(tb, f.Store.AddFile(tb.Context(), made, manyFiles))
	stored, err := f.Store.CompleteFile(tb.Context(), f.Tenant, made.ID, time.Hour)
	require.NoError(tb, err)
	require.NoError(tb, f.Store.FileContents().Put(tb.Context(), made.Ref(), []byte("data")))
	return stored
}

func (f *Fixture) ofRun(made *file.File) { made.RunID = f.Run.ID }

// expire lets the time of a file be over.
func (f *Fixture) expire(tb testing.TB, id string) {
	tb.Helper()
	_, err := f.Database.Conn(tb).Exec(tb.Context(), "update files set expires_at = now() where id = $1", id)
	require.NoError(tb, err)
}

// left returns what files left at a place.
func (f *Fixture) left(tb testing.TB, location string) []file.Ref {
	tb.Helper()
	refs, err := f.Store.ClaimLeftFiles(tb.Context(), location, time.Hour, 1000)
	require.NoError(tb, err)
	return refs
}

func testFiles(t *testing.T, d *Database) {
	t.Helper()

	t.Run("Contents", func(t *testing.T) {
		t.Parallel()
		filetest.Run(t, func(tb testing.TB) *filetest.Place {
			tb.Helper()
			f := NewFixture(tb, d)
			return &filetest.Place{Contents: f.Store.FileContents(), Stranger: d.Tenant(tb), New: func(tb testing.TB) file.Ref {
				tb.Helper()
				ref := file.Ref{Tenant: f.Tenant, ID: NewID(tb)}
				require.NoError(tb, f.Store.AddFile(tb.Context(), file.File{
					ID: ref.ID, Tenant: f.Tenant, Name: "x", MediaType: file.Text, Size: 1, SHA256: strings.Repeat("0", 64),
					Kind: file.Uploaded, Location: "postgres",
				}, manyFiles))
				return ref
			}}
		})
	})

	t.Run("a file is found once its content is stored, and until it expires", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		made := file.File{
			ID: NewID(t), Tenant: f.Tenant, Name: "a\x00b", MediaType: file.PNG, Size: 4, SHA256: strings.Repeat("a", 64),
			Width: 2, Height: 3, Kind: file.Markup, RunID: f.Run.ID, Location: "postgres", CreatedBy: "key:x",
		}
		require.NoError(t, f.Store.AddFile(t.Context(), made, manyFiles))
		_, err := f.Store.FindFile(t.Context(), f.Tenant, made.ID)
		RequireKind(t, tool.NotFound, err)
		stored, err := f.Store.CompleteFile(t.Context(), f.Tenant, made.ID, time.Hour)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(time.Hour), *stored.ExpiresAt, time.Minute)
		require.Equal(t, f.Run.ID, stored.RootRunID)
		found, err := f.Store.FindFile(t.Context(), f.Tenant, made.ID)
		require.NoError(t, err)
		require.Equal(t, stored, found)
		_, err = f.Store.CompleteFile(t.Context(), f.Tenant, made.ID, 0)
		RequireKind(t, tool.NotFound, err)
		f.expire(t, made.ID)
		_, err = f.Store.FindFile(t.Context(), f.Tenant, made.ID)
		RequireKind(t, tool.NotFound, err)
		made.ID, made.RunID = NewID(t), NewID(t)
		RequireKind(t, tool.NotFound, f.Store.AddFile(t.Context(), made, manyFiles))
	})

	t.Run("files are listed by run and by request, newest first", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		call := NewID(t)
		first := f.File(t, f.ofRun)
		second := f.File(t, func(n *file.File) { n.CallID = call })
		for _, c := range []struct {
			query file.Query
			want  []file.File
		}{
			{file.Query{}, []file.File{second, first}},
			{file.Query{Limit: 1}, []file.File{second}},
			{file.Query{Before: second.ID}, []file.File{first}},
			{file.Query{RunID: f.Run.ID}, []file.File{first}},
			{file.Query{CallID: call}, []file.File{second}},
			{file.Query{RunID: NewID(t)}, []file.File{}},
		} {
			c.query.Tenant = f.Tenant
			all, err := f.Store.ListFiles(t.Context(), c.query)
			require.NoError(t, err)
			require.Equal(t, c.want, all)
		}
	})

	t.Run("quotas", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		call := NewID(t)
		add := func(size int64, q file.Quota) error {
			return f.Store.AddFile(t.Context(), file.File{
				ID: NewID(t), Tenant: f.Tenant, Name: "x", MediaType: file.Text, Size: size, SHA256: strings.Repeat("0", 64),
				Kind: file.Uploaded, Location: "postgres", CallID: call,
			}, q)
		}
		most := file.Quota{TenantBytes: 100, CallBytes: 50, CallFiles: 2}
		RequireKind(t, tool.Conflict, add(51, most))
		require.NoError(t, add(25, most))
		require.NoError(t, add(25, most), "what is on its way counts")
		RequireKind(t, tool.Conflict, add(1, file.Quota{TenantBytes: 100, CallBytes: 100, CallFiles: 2}))
		RequireKind(t, tool.Conflict, add(51, file.Quota{TenantBytes: 100, CallBytes: 1000, CallFiles: 9}))
	})

	t.Run("what expired is swept, and what is elsewhere is left for its place", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		place := NewID(t)
		stays := f.File(t, nil)
		gone := f.File(t, func(n *file.File) { n.Location = place })
		begun := file.File{
			ID: NewID(t), Tenant: f.Tenant, Name: "x", MediaType: file.Text, Size: 1, SHA256: strings.Repeat("0", 64),
			Kind: file.Uploaded, Location: place,
		}
		require.NoError(t, f.Store.AddFile(t.Context(), begun, manyFiles))
		f.expire(t, gone.ID)
		f.expire(t, begun.ID)
		swept, err := f.Store.SweepFiles(t.Context(), 100)
		require.NoError(t, err)
		require.GreaterOrEqual(t, swept, 2)
		_, err = f.Store.FindFile(t.Context(), f.Tenant, stays.ID)
		require.NoError(t, err)
		require.ElementsMatch(t, []file.Ref{gone.Ref(), begun.Ref()}, f.left(t, place))
		require.Empty(t, f.left(t, place), "it is leased")
		_, err = f.Database.Conn(t).Exec(t.Context(), "update left_files set due_at = now() where location = $1", place)
		require.NoError(t, err)
		require.NoError(t, f.Store.ForgetFile(t.Context(), gone.Ref()))
		require.Equal(t, []file.Ref{begun.Ref()}, f.left(t, place))
	})

	t.Run("files go with their run", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		place := NewID(t)
		gone := f.File(t, func(n *file.File) { n.RunID, n.Location = f.Run.ID, place })
		conn := f.Database.Conn(t)
		_, err := conn.Exec(t.Context(), "set role toolcrib_owner")
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "select set_config('app.tenant_id', $1, false)", f.Tenant)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "delete from runs where id = $1", f.Run.ID)
		require.NoError(t, err)
		_, err = f.Store.FindFile(t.Context(), f.Tenant, gone.ID)
		RequireKind(t, tool.NotFound, err)
		require.Equal(t, []file.Ref{gone.Ref()}, f.left(t, place))
	})

	t.Run("an answer keeps its files, and no others", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		c := f.Offered(t, nil)
		sent := func(n *file.File) { n.CallID, n.RunID = c.ID, f.Run.ID }
		used, unused, other := f.File(t, sent), f.File(t, sent), f.File(t, nil)
		sub := f.submission(c, `{"n":1}`)
		for _, ids := range [][]string{{used.ID, other.ID}, {NewID(t)}} {
			sub.Files = ids
			_, _, err := f.Store.SubmitResult(t.Context(), sub)
			RequireKind(t, tool.Conflict, err)
		}
		sub.Files = []string{used.ID}
		_, first, err := f.Store.SubmitResult(t.Context(), sub)
		require.NoError(t, err)
		require.True(t, first)
		for _, id := range []string{used.ID, unused.ID, other.ID} {
			found, err := f.Store.FindFile(t.Context(), f.Tenant, id)
			require.NoError(t, err)
			require.Equal(t, id == used.ID, found.ExpiresAt == nil)
		}
	})

	t.Run("a request keeps the image that it shows", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		shown := f.File(t, nil)
		e := f.Entry(t)
		e.Implementation = tool.Input
		conn := f.Database.Conn(t)
		o := f.Offer(e, f.Admit(t, e, false, false).Fence)
		_, err := conn.Exec(t.Context(), "update tool_invocations set input = $1 where id = $2",
			json.RawMessage(`{"title":"x","markup":{"image":"`+shown.ID+`"}}`), e.InvocationID)
		require.NoError(t, err)
		_, err = f.Store.OfferCall(t.Context(), o)
		require.NoError(t, err)
		found, err := f.Store.FindFile(t.Context(), f.Tenant, shown.ID)
		require.NoError(t, err)
		require.Nil(t, found.ExpiresAt)
	})
}

// fileCases are the foreign cases of files.
var fileCases = map[string]func(t *testing.T, f foreign){
	"AddFile": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.File(t, nil)
		theirs := made
		theirs.Tenant, theirs.RunID = f.stranger, f.Run.ID
		RequireKind(t, tool.NotFound, f.Store.AddFile(t.Context(), theirs, manyFiles))
		theirs.RunID = ""
		require.NoError(t, f.Store.AddFile(t.Context(), theirs, manyFiles), "ids are a tenant's own")
		f.requireSameFile(t, made)
	},
	"CompleteFile": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.File(t, nil)
		_, err := f.Store.CompleteFile(t.Context(), f.stranger, made.ID, 0)
		RequireKind(t, tool.NotFound, err)
		f.requireSameFile(t, made)
	},
	"FindFile": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindFile(t.Context(), f.stranger, f.File(t, nil).ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListFiles": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.File(t, func(n *file.File) { n.RunID, n.CallID = f.Run.ID, NewID(t) })
		for _, q := range []file.Query{{}, {RunID: f.Run.ID}, {CallID: made.CallID}} {
			q.Tenant = f.stranger
			all, err := f.Store.ListFiles(t.Context(), q)
			require.NoError(t, err)
			require.Empty(t, all)
		}
	},
	"DeleteFile": func(t *testing.T, f foreign) {
		t.Helper()
		made := f.File(t, nil)
		_, err := f.Store.DeleteFile(t.Context(), f.stranger, made.ID)
		RequireKind(t, tool.NotFound, err)
		f.requireSameFile(t, made)
	},
	"ForgetFile": func(t *testing.T, f foreign) {
		t.Helper()
		place := NewID(t)
		made := f.File(t, func(n *file.File) { n.Location = place })
		_, err := f.Store.DeleteFile(t.Context(), f.Tenant, made.ID)
		require.NoError(t, err)
		require.NoError(t, f.Store.ForgetFile(t.Context(), file.Ref{Tenant: f.stranger, ID: made.ID}))
		require.Equal(t, []file.Ref{made.Ref()}, f.left(t, place))
	},
}

func (f *Fixture) requireSameFile(tb testing.TB, want file.File) {
	tb.Helper()
	got, err := f.Store.FindFile(tb.Context(), f.Tenant, want.ID)
	require.NoError(tb, err)
	require.Equal(tb, want, got)
}

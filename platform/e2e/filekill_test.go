package e2e_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// uploaded is a text of more than one of the chunks that a content is stored in.
var uploaded = []byte(strings.Repeat("a line of a file\n", 40_000))

// mortalFiles is a record of files, and the place of their contents, of a process that is hit between the
// steps of an upload.
type mortalFiles struct {
	file.Store
	file.Contents
	cfg childConfig
}

func (m mortalFiles) AddFile(ctx context.Context, f file.File, q file.Quota) error {
	err := m.Store.AddFile(ctx, f, q)
	m.cfg.hit(afterFile)
	return err
}

func (m mortalFiles) Put(ctx context.Context, ref file.Ref, content []byte) error {
	if m.cfg.Point == inContent {
		content = content[:len(content)/2]
	}
	err := m.Contents.Put(ctx, ref, content)
	m.cfg.hit(inContent)
	m.cfg.hit(afterContent)
	return err
}

func (m mortalFiles) CompleteFile(
	ctx context.Context, tenant tool.TenantID, id string, unused time.Duration,
) (file.File, error) {
	f, err := m.Store.CompleteFile(ctx, tenant, id, unused)
	m.cfg.hit(afterUpload)
	return f, err
}

// upload stores a file.
func (c childConfig) upload(ctx context.Context, db *store.Store) error {
	m := mortalFiles{db, db.FileContents(), c}
	files, err := file.New(file.Config{Store: m, Contents: []file.Contents{m}})
	if err != nil {
		return err
	}
	_, err = files.Receive(ctx, file.Upload{Tenant: c.Upload, Name: "lines.txt"}, bytes.NewReader(uploaded))
	return err
}

// A server is killed in the middle of an upload: there is no file, whole or in part, and what is left of it
// is swept, content and all. Once an upload is recorded as complete, the file is there and whole.
func TestKilledUpload(t *testing.T) {
	t.Parallel()

	for _, at := range []point{afterFile, inContent, afterContent, afterUpload} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			requireKilled(t, startChild(t, childConfig{
				Database: s.db.URL, Upload: s.principal.Tenant, Point: at, Signal: syscall.SIGKILL,
				Marker: filepath.Join(t.TempDir(), "hit"),
			}))
			var id string
			require.NoError(t, s.db.Conn(t).QueryRow(t.Context(), `select id from files`).Scan(&id))
			files := s.files()
			found, err := files.List(t.Context(), file.Query{Tenant: s.principal.Tenant})
			require.NoError(t, err)
			if at == afterUpload {
				require.Len(t, found, 1)
				require.Equal(t, uploaded, s.content(files, id))
				return
			}
			require.Empty(t, found)
			_, _, err = files.Open(t.Context(), s.principal.Tenant, id)
			require.Equal(t, tool.NotFound, tool.KindOf(err))
			n, err := files.Sweep(t.Context())
			require.NoError(t, err)
			require.Zero(t, n, "it may still come")

			_, err = s.db.Conn(t).Exec(t.Context(), `update files set expires_at = now()`) // An hour later.
			require.NoError(t, err)
			n, err = files.Sweep(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, n)
			var left int
			require.NoError(t, s.db.Conn(t).QueryRow(t.Context(),
				`select (select count(*) from files) + (select count(*) from file_chunks)`).Scan(&left))
			require.Zero(t, left)
			again, err := files.Upload(t.Context(), file.Upload{Tenant: s.principal.Tenant, Name: "lines.txt"}, uploaded)
			require.NoError(t, err)
			require.Equal(t, uploaded, s.content(files, again.ID))
		})
	}
}

// content returns the content of a file.
func (s *site) content(files *file.Service, id string) []byte {
	s.t.Helper()
	_, content, err := files.Open(s.t.Context(), s.principal.Tenant, id)
	require.NoError(s.t, err)
	raw, err := file.ReadAll(content)
	require.NoError(s.t, err)
	return raw
}

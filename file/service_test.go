package file_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/file/filetest"
	"github.com/toolcrib/toolcrib/tool"
)

func service(t *testing.T, change func(*file.Config)) (*file.Service, *filetest.Memory) {
	t.Helper()
	m := filetest.NewMemory()
	cfg := file.Config{Store: m, Contents: []file.Contents{m}, MaxBytes: 1 << 20}
	if change != nil {
		change(&cfg)
	}
	s, err := file.New(cfg)
	require.NoError(t, err)
	return s, m
}

func upload() file.Upload { return file.Upload{Tenant: tool.TenantID(uuid.NewString()), Name: "a.txt"} }

func TestMemory(t *testing.T) {
	t.Parallel()

	filetest.Run(t, func(tb testing.TB) *filetest.Place {
		tb.Helper()
		return &filetest.Place{
			Contents: filetest.NewMemory(), Stranger: "b",
			New: func(testing.TB) file.Ref { return file.Ref{Tenant: "a", ID: uuid.NewString()} },
		}
	})
}

// What is stored comes back, whatever its size; one that was changed does not come back whole.
func TestContentsAreVerified(t *testing.T) {
	t.Parallel()

	s, m := service(t, nil)
	for _, size := range []int{1, 32 << 10, 64<<10 + 1, 300 << 10} {
		content := bytes.Repeat([]byte("a"), size)
		u := upload()
		made, err := s.Upload(t.Context(), u, content)
		require.NoError(t, err)
		_, from, err := s.Open(t.Context(), u.Tenant, made.ID)
		require.NoError(t, err)
		got, err := file.ReadAll(io.NopCloser(iotest.OneByteReader(from)))
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got))
		_, _, err = s.Open(t.Context(), upload().Tenant, made.ID)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
		for _, change := range []func([]byte) []byte{
			func(b []byte) []byte { b[0] = 'b'; return b }, func(b []byte) []byte { return b[1:] },
			func(b []byte) []byte { return append(b, 'x') },
		} {
			m.Damage(made.Ref(), change)
			_, from, err = s.Open(t.Context(), u.Tenant, made.ID)
			require.NoError(t, err)
			raw, err := io.ReadAll(from)
			require.Error(t, err)
			require.Less(t, len(raw), size)
		}
	}
}

// An upload that fails halfway leaves nothing, at once or once it is swept.
func TestUploadsThatFail(t *testing.T) {
	t.Parallel()

	s, m := service(t, nil)
	_, err := s.Receive(t.Context(), upload(), iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("hello"))))
	require.ErrorIs(t, err, iotest.ErrTimeout)
	_, err = s.Receive(t.Context(), upload(), strings.NewReader(strings.Repeat("a", 1<<20+1)))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "at most 1 MiB")
	u := upload()
	u.Accept = []string{"image/*"}
	_, err = s.Receive(t.Context(), u, strings.NewReader("hello"))
	require.ErrorContains(t, err, "expected image/*")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Upload(ctx, upload(), []byte("hello"))
	require.Error(t, err)
	require.Zero(t, m.Contents())
	all, err := s.List(t.Context(), file.Query{Tenant: u.Tenant})
	require.NoError(t, err)
	require.Empty(t, all)
}

// What nothing uses expires, and is swept with its content.
func TestSweep(t *testing.T) {
	t.Parallel()

	s, m := service(t, func(c *file.Config) { c.Unused = time.Millisecond })
	u := upload()
	gone, err := s.Upload(t.Context(), u, []byte("hello"))
	require.NoError(t, err)
	u.Unused = -1
	kept, err := s.Upload(t.Context(), u, []byte("hello"))
	require.NoError(t, err)
	require.Nil(t, kept.ExpiresAt)
	require.Eventually(t, func() bool {
		n, err := s.Sweep(t.Context())
		return err == nil && n == 1
	}, time.Minute, time.Millisecond)
	_, err = s.Find(t.Context(), u.Tenant, gone.ID)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	require.Equal(t, 1, m.Contents())
	require.NoError(t, s.Delete(t.Context(), u.Tenant, kept.ID))
	require.Zero(t, m.Contents())
	require.Equal(t, tool.NotFound, tool.KindOf(errors.Unwrap(s.Delete(t.Context(), u.Tenant, kept.ID))))
}

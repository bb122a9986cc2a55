// Package filetest tests places for the contents of files.
package filetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/tool"
)

// Place is a place to test.
type Place struct {
	file.Contents
	// New makes the name of a content that is not there yet, of one tenant.
	New func(tb testing.TB) file.Ref
	// Stranger is another tenant.
	Stranger tool.TenantID
}

// Run is the conformance suite of [file.Contents].
func Run(t *testing.T, open func(tb testing.TB) *Place) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, p *Place){
		"RoundTrip": testRoundTrip, "Absent": testAbsent, "Foreign": testForeign, "Delete": testDelete,
		"Cancelled": testCancelled, "Together": testTogether,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func (p *Place) read(t *testing.T, ref file.Ref) []byte {
	t.Helper()
	from, err := p.Open(t.Context(), ref)
	require.NoError(t, err)
	raw, err := file.ReadAll(from)
	require.NoError(t, err)
	return raw
}

func (p *Place) requireAbsent(t *testing.T, ref file.Ref) {
	t.Helper()
	from, err := p.Open(t.Context(), ref)
	if err == nil {
		_ = from.Close()
	}
	require.Equal(t, tool.NotFound, tool.KindOf(err), "%v", err)
}

func testRoundTrip(t *testing.T, p *Place) {
	t.Helper()
	require.NotEmpty(t, p.Location())
	for _, size := range []int{1, 1000, 256 << 10, 256<<10 + 1, 3<<20 + 17} {
		content := make([]byte, size)
		_, _ = rand.Read(content)
		ref := p.New(t)
		require.NoError(t, p.Put(t.Context(), ref, content))
		require.True(t, bytes.Equal(content, p.read(t, ref)), size)
		require.True(t, bytes.Equal(content, p.read(t, ref)), "it is read again")
		from, err := p.Open(t.Context(), ref)
		require.NoError(t, err)
		_, err = io.ReadFull(from, make([]byte, 1))
		require.NoError(t, err)
		require.NoError(t, from.Close(), "a reader that is left early")
	}
}

func testAbsent(t *testing.T, p *Place) {
	t.Helper()
	ref := p.New(t)
	p.requireAbsent(t, ref)
	for _, id := range []string{"", "x", "../" + ref.ID, ref.ID + "/..", "00000000-0000-7000-8000-00000000000g"} {
		p.requireAbsent(t, file.Ref{Tenant: ref.Tenant, ID: id})
	}
	p.requireAbsent(t, file.Ref{Tenant: "", ID: ref.ID})
	p.requireAbsent(t, file.Ref{Tenant: "..", ID: ref.ID})
}

func testForeign(t *testing.T, p *Place) {
	t.Helper()
	ref := p.New(t)
	require.NoError(t, p.Put(t.Context(), ref, []byte("secret")))
	theirs := file.Ref{Tenant: p.Stranger, ID: ref.ID}
	p.requireAbsent(t, theirs)
	require.NoError(t, p.Delete(t.Context(), theirs))
	require.Equal(t, "secret", string(p.read(t, ref)))
}

func testDelete(t *testing.T, p *Place) {
	t.Helper()
	ref, other := p.New(t), p.New(t)
	require.NoError(t, p.Put(t.Context(), ref, []byte("a")))
	require.NoError(t, p.Put(t.Context(), other, []byte("b")))
	require.NoError(t, p.Delete(t.Context(), ref))
	p.requireAbsent(t, ref)
	require.NoError(t, p.Delete(t.Context(), ref), "again")
	require.Equal(t, "b", string(p.read(t, other)))
}

func testCancelled(t *testing.T, p *Place) {
	t.Helper()
	ref := p.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, p.Put(ctx, ref, bytes.Repeat([]byte("a"), 1<<20)))
	p.requireAbsent(t, ref)
	require.NoError(t, p.Put(t.Context(), ref, []byte("b")))
	require.Equal(t, "b", string(p.read(t, ref)))
	_, err := p.Open(ctx, ref)
	require.Error(t, err)
}

func testTogether(t *testing.T, p *Place) {
	t.Helper()
	var all sync.WaitGroup
	for i := range 8 {
		ref := p.New(t)
		content := bytes.Repeat([]byte{byte(i + 1)}, 300<<10)
		all.Go(func() {
			if err := p.Put(t.Context(), ref, content); err != nil {
				t.Error(err)
				return
			}
			from, err := p.Open(t.Context(), ref)
			if err != nil {
				t.Error(err)
				return
			}
			if raw, err := file.ReadAll(from); err != nil || !bytes.Equal(raw, content) {
				t.Errorf("content %d is not the one that was put: %v", i, err)
			}
		})
	}
	all.Wait()
}

//go:build linux

package programs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that is still open for writing is tried again, and not for ever.
func TestProgramsThatWereJustWritten(t *testing.T) {
	t.Parallel()

	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho ready\n"), 0o700))
	open := func() *os.File {
		f, err := os.OpenFile(program, os.O_WRONLY, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}

	busy, pauses := open(), 0
	out, err := outputOf(t.Context(), func(context.Context) error {
		if pauses++; pauses == 3 {
			return busy.Close()
		}
		return nil
	}, program)
	require.NoError(t, err)
	require.Equal(t, "ready\n", string(out))
	require.GreaterOrEqual(t, pauses, 3)

	open()
	pauses = 0
	_, err = outputOf(t.Context(), func(context.Context) error { pauses++; return nil }, program)
	require.ErrorIs(t, err, syscall.ETXTBSY)
	require.Equal(t, busyTries-1, pauses)
	_, err = outputOf(t.Context(), func(context.Context) error { return errors.New("over") }, program)
	require.ErrorIs(t, err, syscall.ETXTBSY)
}

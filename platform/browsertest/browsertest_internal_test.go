package browsertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A browser that ends while it starts is started again, and one that never starts is a failure.
func TestABrowserIsStartedAgain(t *testing.T) { //nolint:paralleltest // The browser is shared.
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no browser is on PATH: apt-get install chromium, to test pages")
	}
	folder := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
		return path
	}
	once := script("once", `[ -e "$0.began" ] || { touch "$0.began"; exit 1; }; exec "`+program+`" "$@"`)
	ctx, err := join(once)
	require.NoError(t, err)
	require.NoError(t, ctx.Err())
	leave()

	_, err = join(script("never", "exit 1"))
	require.ErrorContains(t, err, "failed to start")
	leave()
}

package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	child "github.com/toolcrib/toolcrib/platform/sandbox"
)

// TestMain lets the test's binary be the child too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "sandbox" {
		os.Exit(child.Main()) //nolint:forbidigo // It is a main.
	}
	if len(os.Args) == 2 && os.Args[1] == "sandbox-probe" {
		os.Exit(probe()) //nolint:forbidigo // It is a main.
	}
	if len(os.Args) == 2 && os.Args[1] == "sandbox-stray" {
		os.Exit(strayProbe()) //nolint:forbidigo // It is a main.
	}
	m.Run()
}

func newPool(t *testing.T, change ...func(*sandbox.Config)) *sandbox.Pool {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cfg := sandbox.Config{Command: []string{exe, "sandbox"}}
	for _, fn := range change {
		fn(&cfg)
	}
	p, err := sandbox.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// run runs a program and returns its result, or its error.
func run(t *testing.T, p *sandbox.Pool, j sandbox.Job) (string, error) {
	t.Helper()
	if j.Tenant == "" {
		j.Tenant = "tenant"
	}
	if j.Input == nil {
		j.Input = json.RawMessage("null")
	}
	if j.Limits.Time == 0 {
		j.Limits.Time = sandbox.MaxLimits.Time // Of a busy machine.
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := p.Run(ctx, j)
	if err != nil {
		return "", err
	}
	return string(out.Output), nil
}

// classOf returns the class of a program's error; empty where it is another's.
func classOf(err error) sandbox.Class {
	if e, ok := errors.AsType[*sandbox.ProgramError](err); ok {
		return e.Class
	}
	return ""
}

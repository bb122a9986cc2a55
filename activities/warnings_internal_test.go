package activities

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// A cause that repeats is let through once in a minute, with the count of those in
// between; another's is let through at once.
func TestWarningsAreLimited(t *testing.T) {
	t.Parallel()
	var w warnings
	now := time.Now()
	passed, counted := 0, 0
	for range 1000 {
		if held, ok := w.pass("noisy", now); ok {
			passed++
			counted += held
		}
		now = now.Add(100 * time.Millisecond)
	}
	require.Equal(t, 2, passed, "of 1000 within 100 seconds")
	require.Equal(t, 599, counted)
	held, ok := w.pass("other", now)
	require.True(t, ok)
	require.Zero(t, held)
	for i := range 3 * maxWarned {
		_, ok := w.pass(strconv.Itoa(i), now)
		require.True(t, ok)
	}
	require.LessOrEqual(t, len(w.last), maxWarned)
}

// lostOutputs keeps nothing.
type lostOutputs struct{}

func (lostOutputs) AppendOutput(context.Context, agent.Output) error { return errors.New("away") }

// A program whose output can't be kept is one warning a minute, not one a call.
func TestLostOutputIsOneWarning(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.NewTextHandler(&said, nil))))
	env := suite.NewTestActivityEnvironment()
	a := &Activities{Config: Config{Outputs: lostOutputs{}}}
	call := func(ctx context.Context, tenant string) error {
		say, end := a.stream(ctx, agent.Output{Tenant: tool.TenantID(tenant), RunID: "run"})
		say("text")
		end()
		return nil
	}
	env.RegisterActivity(call)
	for _, tenant := range []string{"noisy", "noisy", "noisy", "other"} {
		_, err := env.ExecuteActivity(call, tenant)
		require.NoError(t, err)
	}
	require.Equal(t, 2, strings.Count(said.String(), "output was dropped"), "%s", &said)
}

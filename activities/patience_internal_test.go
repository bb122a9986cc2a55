package activities

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

var away = &tool.Error{Kind: tool.Unavailable, Op: "store.X", Msg: "the database is too busy with the same rows"}

// A settlement outlasts a lock that is held for minutes; what does not pass by
// itself is not repeated.
func TestSettlementOutlastsALock(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		released := time.Now().Add(4 * time.Minute)
		got, err := patiently(t.Context(), settlePatience, func() (string, error) {
			time.Sleep(2 * time.Second) // lock_timeout
			if time.Now().Before(released) {
				return "", away
			}
			return "settled", nil
		})
		require.NoError(t, err)
		require.Equal(t, "settled", got)

		tries := 0
		_, err = patiently(t.Context(), settlePatience, func() (string, error) {
			tries++
			return "", &tool.Error{Kind: tool.Conflict}
		})
		require.Equal(t, tool.Conflict, tool.KindOf(err))
		require.Equal(t, 1, tries)
	})
}

// marks is a ledger of one effect that another session holds a lock on, and whose
// answers may be lost.
type marks struct {
	ledger.Ledger
	sent         bool
	locked, lost int // How many of the next operations fail before and after they are done.
	calls        []string
}

func (m *marks) operate(name string, from bool) error {
	m.calls = append(m.calls, name)
	if m.locked > 0 {
		m.locked--
		return away
	}
	if m.sent != from {
		return &tool.Error{Kind: tool.Conflict}
	}
	m.sent = !from
	if m.lost > 0 {
		m.lost--
		return away
	}
	return nil
}

func (m *marks) MarkSent(context.Context, tool.TenantID, string, int64) error {
	return m.operate("sent", false)
}

func (m *marks) MarkUnsent(context.Context, tool.TenantID, string, int64) error {
	return m.operate("unsent", true)
}

// Marking as sent, and taking that back, wait for a database that is locked, and
// are not confused by answers that are lost.
func TestMarksArePatient(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		ledger marks
		want   []string
	}{
		"At once":          {marks{}, []string{"sent"}},
		"Locked":           {marks{locked: 3}, []string{"sent", "unsent", "unsent", "unsent", "sent"}},
		"Answer lost":      {marks{lost: 1}, []string{"sent", "unsent", "sent"}},
		"Two answers lost": {marks{lost: 2}, []string{"sent", "unsent", "unsent", "sent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := tt.ledger
			a := &attempt{a: &Activities{Config: Config{Ledger: &m}}, in: &wire.InvokeInput{}, fence: 1}
			require.NoError(t, a.mark(t.Context()))
			require.True(t, m.sent)
			require.Equal(t, tt.want, m.calls)
			m.locked = 2
			require.NoError(t, a.unsend(t.Context(), away))
			require.False(t, m.sent)
		})
	}
	overtaken := &marks{sent: true}
	a := &attempt{a: &Activities{Config: Config{Ledger: overtaken}}, in: &wire.InvokeInput{}, fence: 1}
	require.Equal(t, tool.Conflict, tool.KindOf(a.mark(t.Context())), "another attempt's mark stays")
	require.Equal(t, []string{"sent"}, overtaken.calls)
}

// Heartbeats go on when the call was cancelled, for as long as its answer waits to
// be settled.
func TestHeartbeatsOutlastCancellation(t *testing.T) {
	t.Parallel()

	env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	beat := make(chan struct{}, 100)
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beat <- struct{}{} })
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		ended, end := context.WithCancel(ctx)
		end()
		stop := heartbeat(ended, func() any { return tool.Progress{} })
		defer stop()
		for range 2 {
			<-beat
		}
		return nil
	}, activity.RegisterOptions{Name: "wait"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, HeartbeatTimeout: 3 * time.Second,
		})
		return workflow.ExecuteActivity(ctx, "wait").Get(ctx, nil)
	})
	require.NoError(t, env.GetWorkflowError())
}

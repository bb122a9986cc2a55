package e2e_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/wire"
)

// learned is where workers log. It knows of which pauses their activities have learned, and passes
// errors on. The zero value is ready to use.
type learned struct {
	mu     sync.Mutex
	text   []byte                      // The beginning of a line.
	rounds map[string]agent.PauseRound // The highest, by run.
}

// logger returns a logger of a worker in this process.
func (l *learned) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(l, nil)) }

// Write takes lines of JSON, in any pieces.
func (l *learned) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, text...)
	for {
		line, rest, whole := bytes.Cut(l.text, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		l.text = rest
		var logged struct {
			Level slog.Level       `json:"level"`
			Msg   string           `json:"msg"`
			RunID string           `json:"run_id"`
			Round agent.PauseRound `json:"round"`
		}
		if err := json.Unmarshal(line, &logged); err != nil || logged.Level >= slog.LevelError {
			_, _ = os.Stderr.Write(append(line, '\n'))
		}
		if logged.Msg != "an activity learned of a pause" {
			continue
		}
		if l.rounds == nil {
			l.rounds = map[string]agent.PauseRound{}
		}
		l.rounds[logged.RunID] = max(l.rounds[logged.RunID], logged.Round)
	}
}

// await waits until an activity of a run has learned of a round.
func (l *learned) await(t *testing.T, run string, round agent.PauseRound) {
	t.Helper()
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.rounds[run] >= round
	}, time.Minute, 10*time.Millisecond)
}

// heard waits until a workflow has been given a round. One whose task makes the call that is in
// progress is given it when the task is over.
func (s *site) heard(workflowID string, round agent.PauseRound) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		found, err := s.temporal.DescribeWorkflowExecution(s.t.Context(), workflowID, "")
		require.NoError(s.t, err)
		sent, given := s.signalled(workflowID, round)
		inTask := found.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
		return given || !sent && inTask && len(found.GetPendingActivities()) == 0
	}, time.Minute, 20*time.Millisecond)
}

// signalled reports whether the history of a workflow has the signal of a round, and the end of a
// task after it.
func (s *site) signalled(workflowID string, round agent.PauseRound) (sent, given bool) {
	s.t.Helper()
	for _, e := range historyOf(s.t.Context(), s.t, s.temporal, workflowID, "").GetEvents() {
		if e.GetWorkflowTaskCompletedEventAttributes() != nil && sent {
			return true, true
		}
		signal := e.GetWorkflowExecutionSignaledEventAttributes()
		if signal.GetSignalName() != wire.PauseSignal {
			continue
		}
		var p wire.Pause
		require.NoError(s.t, s.converter().FromPayloads(signal.GetInput(), &p))
		sent = sent || p.Round == round
	}
	return sent, false
}

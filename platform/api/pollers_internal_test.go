package api

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/toolcrib/toolcrib/agent"
)

// queueOf is a Temporal that tells who polls, and counts how often it was asked.
type queueOf struct {
	client.Client
	last  []time.Duration // How long ago each poller polled.
	err   error
	asked int
}

func (q *queueOf) DescribeTaskQueue(context.Context, string, enums.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	q.asked++
	out := &workflowservice.DescribeTaskQueueResponse{}
	for _, ago := range q.last {
		out.Pollers = append(out.Pollers, &taskqueue.PollerInfo{LastAccessTime: timestamppb.New(time.Now().Add(-ago))})
	}
	return out, q.err
}

func TestRunsThatWaitForAWorker(t *testing.T) {
	t.Parallel()
	waiting := agent.Run{Kind: agent.AgentRun, Status: agent.RunPending, CreatedAt: time.Now().Add(-time.Minute)}
	with := func(change func(*agent.Run)) agent.Run {
		run := waiting
		change(&run)
		return run
	}
	for name, tt := range map[string]struct {
		queue queueOf
		run   agent.Run
		warns bool
	}{
		"nobody polls":            {queueOf{}, waiting, true},
		"who polled is gone":      {queueOf{last: []time.Duration{time.Hour}}, waiting, true},
		"nobody goes on with it":  {queueOf{}, with(func(r *agent.Run) { r.Status = agent.RunRunning }), true},
		"one of two polls":        {queueOf{last: []time.Duration{time.Hour, time.Second}}, waiting, false},
		"Temporal does not tell":  {queueOf{err: errors.New("down")}, waiting, false},
		"it has just been made":   {queueOf{}, with(func(r *agent.Run) { r.CreatedAt = time.Now() }), false},
		"it has ended":            {queueOf{}, with(func(r *agent.Run) { r.Status = agent.RunFailed }), false},
		"it is its host's affair": {queueOf{}, with(func(r *agent.Run) { r.Kind = agent.HostRun }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pollers{temporal: &tt.queue, queue: "tools"}
			says := p.waitsFor(t.Context(), tt.run)
			if tt.warns {
				require.Equal(t, `no worker polls the task queue "tools": start one with toolcrib worker --task-queue tools`, says)
			} else {
				require.Empty(t, says)
			}
		})
	}
}

// What was found is told again for a while, so that who follows a run does not
// ask Temporal each time.
func TestPollersAreAskedForOnce(t *testing.T) {
	t.Parallel()
	queue := &queueOf{}
	p := &pollers{temporal: queue, queue: "tools"}
	for range 5 {
		require.True(t, p.missing(t.Context()))
	}
	require.Equal(t, 1, queue.asked)
	p.asked = time.Now().Add(-time.Hour)
	queue.last = []time.Duration{0}
	require.False(t, p.missing(t.Context()))
	require.Equal(t, 2, queue.asked)
}

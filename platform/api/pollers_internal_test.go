package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/toolcrib/toolcrib/agent"
)

// queueOf is a Temporal client that lists pollers, and counts its queries.
type queueOf struct {
	client.Client
	last  []time.Duration // How long ago each poller polled.
	err   error
	asked int
}

func (q *queueOf) DescribeTaskQueue(
	context.Context, string, enums.TaskQueueType,
) (*workflowservice.DescribeTaskQueueResponse, error) {
	q.asked++
	out := &workflowservice.DescribeTaskQueueResponse{}
	for _, ago := range q.last {
		out.Pollers = append(out.Pollers, &taskqueue.PollerInfo{LastAccessTime: timestamppb.New(time.Now().Add(-ago))})
	}
	return out, q.err
}

func TestRunsThatWaitForAWorker(t *testing.T) {
	t.Parallel()
	waiting := agent.Run{Kind: agent.RunKindAgent, Status: agent.RunPending}
	with := func(change func(*agent.Run)) agent.Run {
		run := waiting
		change(&run)
		return run
	}
	for name, tt := range map[string]struct {
		queue queueOf
		run   agent.Run
		age   time.Duration
		warns bool
	}{
		"nobody polls":            {queueOf{}, waiting, time.Minute, true},
		"who polled is gone":      {queueOf{last: []time.Duration{time.Hour}}, waiting, time.Minute, true},
		"nobody goes on with it":  {queueOf{}, with(func(r *agent.Run) { r.Status = agent.RunRunning }), time.Minute, true},
		"one of two polls":        {queueOf{last: []time.Duration{time.Hour, time.Second}}, waiting, time.Minute, false},
		"Temporal does not tell":  {queueOf{err: errors.New("down")}, waiting, time.Minute, false},
		"it has just been made":   {queueOf{}, waiting, startGrace - time.Nanosecond, false},
		"it should have begun":    {queueOf{}, waiting, startGrace, true},
		"it has ended":            {queueOf{}, with(func(r *agent.Run) { r.Status = agent.RunFailed }), time.Minute, false},
		"it is its host's affair": {queueOf{}, with(func(r *agent.Run) { r.Kind = agent.RunKindHost }), time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &pollers{temporal: &tt.queue, queue: "tools"}
				tt.run.CreatedAt = time.Now().Add(-tt.age)
				says := p.waitsFor(t.Context(), tt.run)
				if tt.warns {
					require.Equal(t, `no worker polls the task queue "tools": start one with toolcrib worker --task-queue tools`, says)
				} else {
					require.Empty(t, says)
				}
			})
		})
	}
}

// The result is cached for a while, so that following a run does not query
// Temporal each time.
func TestPollersAreAskedForOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := &queueOf{}
		p := &pollers{temporal: queue, queue: "tools"}
		require.True(t, p.missing(t.Context()))
		time.Sleep(pollersAge - time.Nanosecond)
		require.True(t, p.missing(t.Context()))
		require.Equal(t, 1, queue.asked)
		time.Sleep(time.Nanosecond)
		queue.last = []time.Duration{0}
		require.False(t, p.missing(t.Context()))
		require.Equal(t, 2, queue.asked)
	})
}

package e2e_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// pluginClient returns a client with the plugin, whose model answers at once.
func (s *site) pluginClient() client.Client {
	s.t.Helper()
	plugin, err := worker.New(s.t.Context(), worker.Config{
		Store: s.Store, Models: map[string]agent.Model{"test": play()},
	})
	require.NoError(s.t, err)
	c, err := dial(server.Address(), plugin)
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		c.Close()
		require.NoError(s.t, plugin.Close())
	})
	return c
}

func (s *site) workWith(c client.Client) sdkworker.Worker {
	s.t.Helper()
	w := sdkworker.New(c, s.queue, sdkworker.Options{})
	require.NoError(s.t, w.Start())
	return w
}

func (s *site) runsOf(c client.Client) *runs.Service {
	s.t.Helper()
	service, err := serve.Runs(s.t.Context(), serve.HandlerConfig{
		Store: s.Store, Temporal: c, TaskQueue: s.queue, Namespace: embedded.DefaultNamespace,
	})
	require.NoError(s.t, err)
	return service
}

// completes waits for the end of a run and reports whether its first workflow
// task came with the answer to its start.
func (s *site) completes(id string) (eager bool) {
	s.t.Helper()
	var run agent.Run
	require.Eventually(s.t, func() bool {
		var err error
		run, err = s.FindRun(s.t.Context(), s.principal.Tenant, id)
		return err == nil && run.Status.Final()
	}, time.Minute, 20*time.Millisecond)
	require.Equal(s.t, agent.RunCompleted, run.Status, run.Error)
	events := s.temporal.GetWorkflowHistory(s.t.Context(), run.WorkflowID, "", false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	require.NoError(s.t, err)
	return first.GetWorkflowExecutionStartedEventAttributes().GetEagerExecutionAccepted()
}

// A run starts eagerly if its worker uses the client of the service, and through
// matching if it does not.
func TestEagerStart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x"})
	c := s.pluginClient()
	w := s.workWith(c)
	t.Cleanup(w.Stop)
	ask := runs.NewRun{Principal: s.principal, Agent: "desk", Input: []byte(`"hello"`)}
	for name, of := range map[string]struct {
		service *runs.Service
		want    bool
	}{
		"shared client": {s.runsOf(c), true}, "client without a worker": {s.runsOf(s.temporal), false},
	} {
		run, err := of.service.Start(t.Context(), ask)
		require.NoError(t, err, name)
		require.Equal(t, of.want, s.completes(run.ID), name)
	}
}

// Runs that start while their worker stops complete on another.
func TestEagerStartBesideAStop(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x"})
	c := s.pluginClient()
	stopping, service := s.workWith(c), s.runsOf(c)
	const n = 24
	var ids [n]string
	var failures [n]error
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			time.Sleep(time.Duration(i) * 5 * time.Millisecond) // Before, during and after the stop.
			run, err := service.Start(t.Context(), runs.NewRun{
				Principal: s.principal, Agent: "desk", Input: fmt.Appendf(nil, `"hello %d"`, i), Mode: tool.Production,
			})
			ids[i], failures[i] = run.ID, err
		})
	}
	time.Sleep(30 * time.Millisecond)
	stopping.Stop()
	group.Wait()
	t.Cleanup(s.workWith(s.pluginClient()).Stop)
	for i, id := range ids {
		require.NoError(t, failures[i])
		s.completes(id)
	}
}

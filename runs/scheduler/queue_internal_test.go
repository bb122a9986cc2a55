package scheduler

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
)

// Two servers with different task queues do not rewrite each other's schedules: the one that Temporal
// has is equal to what each of them wants.
func TestServersLeaveEachOthersTaskQueues(t *testing.T) {
	t.Parallel()

	wanted := func(queue string) client.Schedule {
		return client.Schedule{
			Action: &client.ScheduleWorkflowAction{ID: "s", Workflow: "w", TaskQueue: queue}, Spec: &client.ScheduleSpec{},
			Policy: &client.SchedulePolicies{}, State: &client.ScheduleState{},
		}
	}
	has := wanted("one")
	for _, queue := range []string{"one", "two"} {
		want := wanted(queue)
		require.Equal(t, queue == "one", equal(has, want, nil), "a change that Temporal does not have yet moves it")
		keepQueue(has, want)
		require.True(t, equal(has, want, nil), queue)
		action, ok := want.Action.(*client.ScheduleWorkflowAction)
		require.True(t, ok)
		require.Equal(t, "one", action.TaskQueue)
	}
	none := wanted("")
	want := wanted("two")
	keepQueue(none, want)
	require.False(t, equal(none, want, nil), "a schedule without a task queue is given one")
}

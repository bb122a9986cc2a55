package activities

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// mailbox is the runs of a store, of which one has an item in its inbox that taints.
type mailbox struct{ agent.Runs }

func (mailbox) TakeInbox(
	_ context.Context, _ tool.TenantID, _, head string, turn int,
) ([]agent.Message, *tool.Taint, error) {
	return []agent.Message{{ID: "taken", ParentID: head, Role: agent.RoleUser, Turn: turn}},
		&tool.Taint{Tool: "web_fetch", Turn: turn - 1, Rule: tool.TaintApprove}, nil
}

// The turn that takes up what taints its run decides its calls with that: standing grants do not count.
func TestTurnKnowsTheTaintThatItTakesUp(t *testing.T) {
	t.Parallel()

	a := &Activities{Config: Config{Runs: mailbox{}}}
	open := agent.OpenTurn{Inbox: 1}
	head, err := a.takeInbox(t.Context(), question{head: "asked", turn: 3}, &open)
	require.NoError(t, err)
	require.Equal(t, "taken", head)
	require.NotNil(t, open.Taint)
	require.Equal(t, 2, open.Taint.Turn)

	open = agent.OpenTurn{}
	head, err = a.takeInbox(t.Context(), question{head: "asked", turn: 3}, &open)
	require.NoError(t, err)
	require.Equal(t, "asked", head)
	require.Nil(t, open.Taint)
}

package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/linktoken"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// The guard of published views refuses what takes input or has durable output, and what it does not know.
func TestPublishedViewsDisplayOnly(t *testing.T) {
	t.Parallel()

	for _, k := range view.Kinds() {
		require.NoError(t, k.CheckDisplay(), k)
	}
	for kind, says := range map[view.Kind]string{
		view.Form: "displays only", "input": "expected", "": "expected", "Result": "expected",
	} {
		err := kind.CheckDisplay()
		require.Equal(t, tool.Invalid, tool.KindOf(err), kind)
		require.ErrorContains(t, err, says)
	}
	run := uuid.NewString()
	good := view.View{Title: "Orders", Kind: view.Result, RunID: run}
	require.NoError(t, good.Check())
	for path, v := range map[string]view.View{
		"/kind":        {Title: "x", Kind: view.Form, RunID: run},
		"/title":       {Title: strings.Repeat("é", view.MaxTitle+1), Kind: view.Result, RunID: run},
		"/description": {Title: "x", Kind: view.Tool, Description: strings.Repeat("x", view.MaxDescription+1)},
		"/run_id":      {Title: "x", Kind: view.Tool, RunID: run},
	} {
		err := v.Check()
		require.Equal(t, tool.Invalid, tool.KindOf(err), path)
		require.Equal(t, path, tool.AsError(err).Path)
	}
	require.Error(t, view.CheckKeep(0))
	require.Error(t, view.CheckKeep(view.MaxKeep+time.Second))
	require.NoError(t, view.CheckKeep(view.DefaultKeep))
}

// A token opens what it was made for, and no other kind of token does.
func TestTokens(t *testing.T) {
	t.Parallel()

	tenant, id := tool.TenantID(uuid.NewString()), uuid.NewString()
	made, err := view.NewToken(tenant, id)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(made.Text(), "tcv_"))
	read, ok := view.ReadToken(made.Text())
	require.True(t, ok)
	require.Equal(t, made, read)
	for _, other := range []linktoken.Kind{"tce_", "tcs_"} {
		foreign, err := other.New(tenant, id)
		require.NoError(t, err)
		_, ok = view.ReadToken(foreign.Text())
		require.False(t, ok, other)
	}
}

// What the link of a view does follows from its state; what ends it for good comes first.
func TestStatus(t *testing.T) {
	t.Parallel()

	now := time.Now()
	for want, v := range map[view.Status]view.View{
		view.Live:      {},
		view.Suspended: {Suspended: true},
		view.Expired:   {Expired: true, Suspended: true},
		view.Revoked:   {RevokedAt: &now, Expired: true, Suspended: true},
	} {
		require.Equal(t, want, v.Status())
	}
}

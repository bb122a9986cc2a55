package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

func TestParseRef(t *testing.T) {
	t.Parallel()

	const id = "01890000-0000-7000-8000-000000000001"
	tests := []struct {
		in   string
		want tool.Ref
	}{
		{"searchOrders", tool.Ref{Slug: "searchOrders"}},
		{" searchOrders ", tool.Ref{Slug: "searchOrders"}},
		{"searchOrders@1.2.0", tool.Ref{Slug: "searchOrders", Constraint: "1.2.0"}},
		{"searchOrders@^1.2", tool.Ref{Slug: "searchOrders", Constraint: "^1.2"}},
		{"searchOrders@>=1.2, <2", tool.Ref{Slug: "searchOrders", Constraint: ">=1.2, <2"}},
		{id, tool.Ref{ID: id}},
		{id + "@~1.4.0", tool.Ref{ID: id, Constraint: "~1.4.0"}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()

			got, err := tool.ParseRef(tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			again, err := tool.ParseRef(got.String())
			require.NoError(t, err)
			require.Equal(t, got, again)
		})
	}
	for _, in := range []string{"", "@1.0.0", "searchOrders@", "search orders", "1search", "söknad", "a/b"} {
		_, err := tool.ParseRef(in)
		require.Equal(t, tool.Invalid, tool.KindOf(err), in)
	}
}

func TestRefJSON(t *testing.T) {
	t.Parallel()

	var r tool.Ref
	require.NoError(t, json.Unmarshal([]byte(`"searchOrders@^1.2"`), &r))
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, `"searchOrders@^1.2"`, string(raw))
	require.Error(t, json.Unmarshal([]byte(`"not a ref"`), &r))
	require.Error(t, json.Unmarshal([]byte(`{}`), &r))
}

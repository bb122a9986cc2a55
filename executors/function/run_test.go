package function_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// A function runs without any platform: arguments are prepared, middleware and
// hooks take part, and there is no call to know of.
func TestRunNeedsNoPlatform(t *testing.T) {
	t.Parallel()

	var j journal
	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "add", "", func(ctx context.Context, in addInput) (addOutput, error) {
		if _, ok := function.InfoFrom(ctx); ok {
			j.note("a call")
		}
		return add(ctx, in)
	}, function.With(j.around("log")), function.Egress(tool.EgressWrite)))
	res, err := reg.Run(t.Context(), "add", []byte(`{"a": "1", "b": 2}`))
	require.NoError(t, err)
	require.Equal(t, `{"sum":3}`, string(res.Structured), "a number in quotes is coerced, as for a call")
	require.Equal(t, []string{"log before", "log after"}, j.take())

	for args, path := range map[string]string{`{}`: "", `{"a": true}`: "/a", `{"a": 1, "c": 2}`: ""} {
		_, err = reg.Run(t.Context(), "add", []byte(args))
		require.Equal(t, tool.Invalid, tool.KindOf(err), args)
		require.Contains(t, tool.AsError(err).Path, path)
	}
	require.Empty(t, j.take(), "what does not fit is not run")
	_, err = reg.Run(t.Context(), "sub", nil)
	require.Equal(t, tool.NotFound, tool.KindOf(err))

	_, err = reg.Run(function.WithInfo(t.Context(), function.Info{CallID: "c"}), "add", []byte(`{"a": 1}`))
	require.NoError(t, err)
	require.Contains(t, j.take(), "a call")
}

// sandbox is what two tenants must never share.
type sandbox struct {
	tenant tool.TenantID
	run    string
}

// Each call gets what its tenant needs, whoever calls at the same time, and
// what was provided is taken back with the call.
func TestTenantsGetTheirOwn(t *testing.T) {
	t.Parallel()

	type command struct {
		Line string `json:"line"`
	}
	var released sync.WaitGroup
	reg := function.NewRegistry()
	require.NoError(t, function.DefineWith(reg, "shell", "",
		func(ctx context.Context, info function.Info) (*sandbox, error) {
			switch info.Principal.Tenant {
			case "down":
				return nil, errors.New("no room")
			case "barred":
				return nil, &tool.Error{Kind: tool.Denied, Msg: "no sandboxes for you"}
			}
			released.Add(1)
			context.AfterFunc(ctx, released.Done)
			return &sandbox{info.Principal.Tenant, info.RunID}, nil
		},
		func(_ context.Context, s *sandbox, in command) (string, error) {
			return string(s.tenant) + s.run + "$ " + in.Line, nil
		}))
	e := function.New(reg)
	var wg sync.WaitGroup
	for i, tenant := range []tool.TenantID{"acme", "globex", "acme", "globex"} {
		wg.Go(func() {
			c := call("shell", `{"line": "ls"}`)
			c.Principal.Tenant, c.RunID = tenant, fmt.Sprint("/run-", i)
			res, err := e.Execute(context.Background(), c)
			if err != nil || res.Content[0].Text != string(tenant)+c.RunID+"$ ls" {
				t.Errorf("tenant %s got %v, %v", tenant, res, err)
			}
		})
	}
	wg.Wait()
	released.Wait()

	for tenant, want := range map[tool.TenantID]tool.Kind{"down": tool.Unavailable, "barred": tool.Denied} {
		c := call("shell", `{"line": "ls"}`)
		c.Principal.Tenant = tenant
		_, err := e.Execute(t.Context(), c)
		require.Equal(t, want, tool.KindOf(err))
		require.False(t, tool.AsError(err).Sent)
	}
	_, err := reg.Run(t.Context(), "shell", []byte(`{"line": "ls"}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "give the context an Info")
	res, err := reg.Run(function.WithInfo(t.Context(), function.Info{Principal: tool.Principal{Tenant: "acme"}}), "shell",
		[]byte(`{"line": "ls"}`))
	require.NoError(t, err)
	require.Equal(t, "acme$ ls", res.Content[0].Text)
	released.Wait()
}

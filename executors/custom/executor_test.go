package custom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/custom"
	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/tool"
)

func callOf(config, arguments string) *tool.Call {
	return &tool.Call{
		CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: "t1"}},
		Egress:       tool.EgressReadOnly,
		Arguments:    json.RawMessage(arguments),
		Version: &tool.Version{Slug: "query", Number: "1.0.0", Snapshot: tool.Snapshot{Definition: tool.Definition{
			Implementation: tool.Custom, Config: json.RawMessage(config),
		}}},
	}
}

var echo = tool.ExecutorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
	return tool.JSONResult(bytes.Clone(call.Arguments)), nil
})

// picky takes tables, and one argument.
type picky struct{ tool.Executor }

func (picky) CheckConfig(config json.RawMessage) error {
	var c struct{ Table, Odd string }
	switch {
	case json.Unmarshal(config, &c) != nil || c.Odd != "":
		return errors.New("an odd configuration")
	case c.Table == "":
		return &tool.Error{Kind: tool.Denied, Path: "/table", Msg: "want a table"}
	}
	return nil
}

func (picky) InputSchema(config json.RawMessage) json.RawMessage {
	if bytes.Contains(config, []byte("orders")) {
		return json.RawMessage(`{"type":"object","required":["id"]}`)
	}
	return nil
}

func mux(t *testing.T) *custom.Mux {
	t.Helper()
	m, err := custom.New(map[string]tool.Executor{"echo": echo, "sqlQuery": picky{echo}})
	require.NoError(t, err)
	return m
}

// A call goes to the executor that its tool names, with all of its
// configuration.
func TestExecute(t *testing.T) {
	t.Parallel()

	require.Equal(t, []string{"echo", "sqlQuery"}, mux(t).Names())
	res, err := mux(t).Execute(t.Context(), callOf(`{"executor": "echo", "more": [1]}`, `{"n":9007199254740993}`))
	require.NoError(t, err)
	require.Equal(t, `{"n":9007199254740993}`, string(res.Structured))
}

// A name that nobody registered is refused: nothing runs, and trying again
// would not help.
func TestRefusedUnknownExecutor(t *testing.T) {
	t.Parallel()

	empty, err := custom.New(nil)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		mux    *custom.Mux
		config string
		path   string
		says   string
	}{
		"Misspelled": {mux(t), `{"executor": "sqlQeury"}`, "/implementation_config/executor", `did you mean "sqlQuery"?`},
		"Unknown":    {mux(t), `{"executor": "somethingElse"}`, "/implementation_config/executor", "registered: echo, sqlQuery"},
		"NoneAtAll":  {empty, `{"executor": "echo"}`, "/implementation_config/executor", "none are registered"},
		"NotNamed":   {mux(t), `{}`, "", "implementation_config/executor: want the name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := tt.mux.Execute(t.Context(), callOf(tt.config, `{}`))
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.Contains(t, e.Msg, tt.says)
			require.False(t, e.Sent)
			require.False(t, e.MayRetry(tool.Execution{Pure: true}))
		})
	}
}

// What is published is known to run: its executor is there, and takes its
// configuration.
func TestCheck(t *testing.T) {
	t.Parallel()

	for config, want := range map[string]string{ // Kind, path, and what is said.
		`{"executor": "echo", "anything": 1}`:         "",
		`{"executor": "sqlQuery", "table": "orders"}`: "",
		`{"type": "custom", "executor": "echo"}`:      "",
		`{"executor": "sqlQuery"}`:                    "invalid /table want a table",
		`{"executor": "sqlQuery", "odd": "1"}`:        "invalid  an odd configuration",
		`{"executor": "other"}`:                       "conflict /executor no worker here",
		``:                                            "invalid /executor want the name",
		`[]`:                                          "invalid  an object",
		`{"executor": 1}`:                             "invalid /executor want the name",
		`{"executor": "not a name"}`:                  `invalid /executor "not a name"`,
		`{"type": "http", "executor": "echo"}`:        "invalid /type not custom",
	} {
		err := mux(t).Check(json.RawMessage(config))
		if want == "" {
			require.NoError(t, err, config)
			require.NoError(t, custom.CheckConfig(json.RawMessage(config)), config)
			continue
		}
		parts := strings.SplitN(want, " ", 3)
		require.Equal(t, tool.Kind(parts[0]), tool.KindOf(err), config)
		require.Equal(t, parts[1], tool.AsError(err).Path, config)
		require.Contains(t, tool.AsError(err).Msg, parts[2], config)
	}
	require.JSONEq(t, `{"type":"object","required":["id"]}`,
		string(mux(t).InputSchema(json.RawMessage(`{"executor": "sqlQuery", "table": "orders"}`))))
	for _, none := range []string{`{"executor": "sqlQuery"}`, `{"executor": "echo"}`, `{"executor": "other"}`, `{}`} {
		require.Nil(t, mux(t).InputSchema(json.RawMessage(none)))
	}
}

func TestNewRefusesBadWiring(t *testing.T) {
	t.Parallel()

	for _, bad := range []map[string]tool.Executor{{"": echo}, {"not a name": echo}, {"nothing": nil}} {
		_, err := custom.New(bad)
		require.Error(t, err)
	}
}

// FuzzCheckConfig: a configuration names an executor, or what is wrong with it
// is said.
func FuzzCheckConfig(f *testing.F) {
	for _, seed := range []string{
		`{"executor": "echo"}`, `{"executor": "", "type": "custom"}`, `null`, `{"executor": ["x"]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := custom.CheckConfig(raw); err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			require.NotEmpty(t, tool.AsError(err).Msg)
			return
		}
		require.True(t, json.Valid(raw))
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()

	executortest.Run(t, executortest.Harness{
		New: func(t *testing.T, b executortest.Behaviour) executortest.Subject {
			t.Helper()
			var keys keyring
			m, err := custom.New(map[string]tool.Executor{"hosts": behaving(b, &keys)})
			require.NoError(t, err)
			return executortest.Subject{
				Executor: m,
				Call: func(effectID string) *tool.Call {
					c := callOf(`{"executor": "hosts"}`, `{"a": [1.10]}`)
					c.EffectID = effectID
					return c
				},
				Keys: keys.all,
			}
		},
		Lacks: map[executortest.Behaviour]string{
			executortest.QuotesSecret: "the executor opens none for it",
			executortest.NoSecret:     "the executor opens none for it",
		},
	})
}

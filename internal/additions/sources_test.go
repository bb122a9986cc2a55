package additions

// shoutType is an implementation type: its own package, and one line in
// worker/types.go.
const shoutType = `// Package shout runs tools that answer in capitals.
package shout

import (
	"bytes"
	"context"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes shout tools.
func Type() executors.Type {
	return executors.Type{
		Traits: tool.Traits{Implementation: "loud_shout", Quick: true},
		Executor: tool.ExecutorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
			return tool.JSONResult(bytes.ToUpper(call.Arguments)), nil
		}),
	}
}
`

const shoutTest = `package worker_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

func TestTypeAdded(t *testing.T) {
	types := worker.Types(worker.Known{})
	require.Contains(t, types.String(), "loud_shout")
	require.Equal(t, "toolcrib.InvokeLoudShout", wire.InvokeActivity("loud_shout"))
	fast, _ := tool.Execution{Pure: true, TimeoutSeconds: 1}.FastLane(types.Traits("loud_shout"))
	require.True(t, fast)

	store := registrytest.NewStore()
	resolve := resolver.New(store, resolver.Options{Types: types.Names()})
	reg := registry.New(store, registry.Options{Types: types, Resolver: resolve})
	ada := tool.Principal{Tenant: store.AddTenant("acme"), Subject: "user:ada", Permissions: []string{registry.ToolsWrite}}
	_, err := reg.Apply(t.Context(), ada, definition.Definition{Tool: &definition.ToolSpec{
		Slug: "shoutOut", Version: "1.0.0", Publish: true,
		Definition: tool.Definition{
			Name: "Shout", Description: "Shouts.", Implementation: "loud_shout",
			InputSchema: json.RawMessage(` + "`" + `{"type":"object","properties":{"text":{"type":"string"}}}` + "`" + `),
		},
	}})
	require.NoError(t, err)
	resolved, err := resolve.Resolve(t.Context(), resolver.Request{Principal: ada, Ref: tool.Ref{Slug: "shoutOut"}})
	require.NoError(t, err)
	mux := executors.NewMux()
	types.Handle(mux)
	result, err := mux.Execute(t.Context(), &tool.Call{Version: resolved.Version, Arguments: json.RawMessage(` + "`" + `{"a":"b"}` + "`" + `)})
	require.NoError(t, err)
	require.JSONEq(t, ` + "`" + `{"A":"B"}` + "`" + `, string(result.Structured))
}
`

// reverseBuiltin is a built-in: one file, and one line in builtins/catalog.go.
const reverseBuiltin = `package builtins

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

func reverseText() Builtin {
	return Builtin{
		Spec: Spec{
			Key: "reverse_text", Version: "1.0.0",
			Definition: tool.Definition{
				Name: "Reverse", Description: "Reverses a text.", Implementation: tool.Internal,
				InputSchema: json.RawMessage(` + "`" + `{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}` + "`" + `),
				Execution:   tool.Execution{Pure: true},
			},
			Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
		},
		Run: func(_ context.Context, call *tool.Call) (*tool.Result, error) {
			var in struct{ Text string }
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			runes := []rune(in.Text)
			slices.Reverse(runes)
			return &tool.Result{Content: []tool.Content{tool.Text(string(runes))}}, nil
		},
	}
}
`

const reverseTest = `package builtins_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/tool"
)

func TestBuiltinAdded(t *testing.T) {
	catalog := builtins.New(builtins.Config{})
	run, ok := catalog.Lookup("reverse_text")
	require.True(t, ok)
	result, err := run.Execute(t.Context(), &tool.Call{Arguments: json.RawMessage(` + "`" + `{"text":"abc"}` + "`" + `)})
	require.NoError(t, err)
	require.Equal(t, "cba", result.Content[0].Text)
	_, ok = builtins.Described(nil).Lookup("reverse_text")
	require.True(t, ok)
}
`

// noteQuery and its migration are a column: the query is one entry, from which the
// Go code is generated.
const noteQuery = `
-- name: SetArtifactNote :one
update artifacts set note = @note where tenant_id = @tenant_id and slug = @slug returning note;
`

const noteTest = `package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/storetest"
)

func TestColumnAdded(t *testing.T) {
	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	require.NotNil(t, (*db.Queries).SetArtifactNote)
	conn := d.Conn(t)
	_, err := conn.Exec(t.Context(), db.SetArtifactNote, "a note", string(tenant), "absent")
	require.NoError(t, err)
}
`

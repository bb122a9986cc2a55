package toolcrib_test

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestLawsCanFail plants one violation of each law in a small repository, and
// sees the law find that one. A law that nothing breaks protects nothing.
func TestLawsCanFail(t *testing.T) {
	t.Parallel()

	root := `"` + module
	violations := map[string]struct {
		files map[string]string
		want  string // Of the one report.
	}{
		"tool is the leaf": {
			one("tool/a.go", `import _ "github.com/google/uuid"`), "tool -> github.com/google/uuid",
		},
		"audit stands on tool": {
			one("audit/a.go", `import _ `+root+`/store"`), "audit -> github.com/toolcrib/toolcrib/store",
		},
		"agent stands on tool": {
			one("agent/a.go", `import _ `+root+`/ledger"`), "agent -> github.com/toolcrib/toolcrib/ledger",
		},
		"flow stands on tool": {
			one("graph/flow/a.go", `import _ `+root+`/schema"`), "graph/flow -> github.com/toolcrib/toolcrib/schema",
		},
		"graph is pure": {
			one("graph/a.go", `import _ `+root+`/store"`), "graph -> github.com/toolcrib/toolcrib/store",
		},
		"pictures are drawn from definitions": {
			one("graph/draw/a.go", `import _ `+root+`/store"`), "graph/draw -> github.com/toolcrib/toolcrib/store",
		},
		"textcall reads and writes texts": {
			one("agent/textcall/a.go", `import _ `+root+`/activities"`),
			"agent/textcall -> github.com/toolcrib/toolcrib/activities",
		},
		"ledger, wait and wire are vocabulary": {
			one("wire/a.go", `import _ `+root+`/schema"`), "wire -> github.com/toolcrib/toolcrib/schema",
		},
		"space is vocabulary": {
			one("space/a.go", `import _ `+root+`/store"`), "space -> github.com/toolcrib/toolcrib/store",
		},
		"file is vocabulary, and what servers do with it": {
			one("file/a.go", `import _ `+root+`/store"`), "file -> github.com/toolcrib/toolcrib/store",
		},
		"usage is vocabulary": {
			one("usage/a.go", `import _ `+root+`/store"`), "usage -> github.com/toolcrib/toolcrib/store",
		},
		"toolset is vocabulary": {
			one("toolset/a.go", `import _ `+root+`/store"`), "toolset -> github.com/toolcrib/toolcrib/store",
		},
		"toolsession is vocabulary": {
			one("toolsession/a.go", `import _ `+root+`/store"`), "toolsession -> github.com/toolcrib/toolcrib/store",
		},
		"toolembed is vocabulary": {
			one("toolembed/a.go", `import _ `+root+`/store"`), "toolembed -> github.com/toolcrib/toolcrib/store",
		},
		"view is vocabulary": {
			one("view/a.go", `import _ `+root+`/store"`), "view -> github.com/toolcrib/toolcrib/store",
		},
		"access is vocabulary": {
			one("access/a.go", `import _ `+root+`/store"`), "access -> github.com/toolcrib/toolcrib/store",
		},
		"budget is vocabulary": {
			one("budget/a.go", `import _ `+root+`/store"`), "budget -> github.com/toolcrib/toolcrib/store",
		},
		"quota is vocabulary": {
			one("quota/a.go", `import _ `+root+`/store"`), "quota -> github.com/toolcrib/toolcrib/store",
		},
		"profile is vocabulary": {
			one("profile/a.go", `import _ `+root+`/store"`), "profile -> github.com/toolcrib/toolcrib/store",
		},
		"schedule is vocabulary": {
			one("schedule/a.go", `import _ `+root+`/store"`), "schedule -> github.com/toolcrib/toolcrib/store",
		},
		"the scheduler has its store and its client": {
			one("runs/scheduler/a.go", `import _ `+root+`/workflows"`),
			"runs/scheduler -> github.com/toolcrib/toolcrib/workflows",
		},
		"loop is pure":               {one("loop/a.go", `import _ "net/http"`), "loop -> net/http"},
		"schema and policy are pure": {one("policy/a.go", `import _ "net/http"`), "policy -> net/http"},
		"schema and policy know the vocabulary only": {
			one("schema/a.go", `import _ `+root+`/registry"`), "schema -> github.com/toolcrib/toolcrib/registry",
		},
		"workflows do no I/O": {
			map[string]string{
				"workflows/a.go": `package workflows; import _ ` + root + `/wire/deep"`,
				"wire/deep/a.go": `package deep; import _ "os/exec"`,
			}, "workflows -> github.com/toolcrib/toolcrib/wire/deep -> os/exec",
		},
		"activities are handed their ports": {
			one("activities/a.go", `import _ `+root+`/store"`), "activities -> github.com/toolcrib/toolcrib/store",
		},
		"only the edge knows Temporal": {
			map[string]string{
				"resolver/a.go":      `package resolver; import _ ` + root + `/internal/a"`,
				"internal/a/a.go":    `package a; import _ "go.temporal.io/sdk/temporal"`,
				"internal/a/fake.go": `package a`,
			}, "resolver -> github.com/toolcrib/toolcrib/internal/a -> go.temporal.io/sdk/temporal",
		},
		"only the store knows PostgreSQL": {
			one("internal/a/a.go", `import _ "database/sql"`), "internal/a -> database/sql",
		},
		"runs know Temporal, the resolver and the vocabulary": {
			one("runs/a.go", `import _ `+root+`/store"`), "runs -> github.com/toolcrib/toolcrib/store",
		},
		"executors do not import the house": {
			one("executors/x/a.go", `import _ `+root+`/registry"`), "executors/x -> github.com/toolcrib/toolcrib/registry",
		},
		"read and write side know no executors": {
			one("registry/a.go", `import _ `+root+`/executors/x"`), "registry -> github.com/toolcrib/toolcrib/executors/x",
		},
		"definitions are pure": {
			one("registry/release/a.go", `import _ `+root+`/registry/mcpserver"`),
			"registry/release -> github.com/toolcrib/toolcrib/registry/mcpserver",
		},
		"what agents do with tools is a use case of the registry": {
			one("registry/manage/a.go", `import _ `+root+`/runs"`), "registry/manage -> github.com/toolcrib/toolcrib/runs",
		},
		"registries of servers and artifacts do not import the registry of tools": {
			one("registry/artifact/a.go", `import _ `+root+`/registry"`),
			"registry/artifact -> github.com/toolcrib/toolcrib/registry",
		},
		"the root never imports the platform": {
			one("worker/a.go", `import _ `+root+`/platform/api"`), "worker -> github.com/toolcrib/toolcrib/platform/api",
		},
		"pgx is imported in store only": {
			one("platform/api/a.go", `import _ "github.com/jackc/pgx/v5/pgxpool"`),
			"platform/api -> github.com/jackc/pgx/v5/pgxpool",
		},
		"the library of caches is imported in one place": {
			one("resolver/a.go", `import _ "github.com/maypok86/otter/v2"`),
			"resolver -> github.com/maypok86/otter/v2",
		},
		"HTTP clients come from internal/egress": {
			one(
				"platform/api/a.go",
				`import web "net/http"`+"\n"+`var c = &web.Client{}; func f(*web.Client) *web.Transport { return nil }`,
			), "platform/api/a.go: http.Client",
		},
		"connections are dialed by internal/egress": {
			one(
				"executors/x/a.go",
				`import "net"`+"\n"+`var c, err = net.Dial("tcp", "x:1"); func f(net.Conn) { net.Listen("tcp", ":0") }`,
			), "executors/x/a.go: net.Dial",
		},
		"libraries are given a client of internal/egress": {
			one("executors/x/a.go", `import "github.com/modelcontextprotocol/go-sdk/mcp"`+"\n"+
				`var a = &mcp.SSEClientTransport{HTTPClient: c}; var b = mcp.StreamableClientTransport{Endpoint: "x"}`),
			"executors/x/a.go: mcp.StreamableClientTransport",
		},
		"nothing is registered by init":       {one("builtins/a.go", `func init() {}`), "builtins/a.go: func init"},
		"files are named for what is in them": {one("store/utils_test.go", ``), "store/utils_test.go"},
		"types of others stay out of our API": {
			one(
				"schema/a.go",
				`import "github.com/santhosh-tekuri/jsonschema/v5"`+"\n"+
					`type S struct { root *jsonschema.Schema }; func (s *S) Root() *jsonschema.Schema { return s.root }`,
			),
			"schema/a.go: Root mentions v5.Schema",
		},
		"test helpers are imported by tests": {one("store/a.go", `import _ "testing"`), "store -> testing"},
		"the root module has few requirements": {
			map[string]string{
				"go.mod": "module m\nrequire (\n\texample.com/big v1.0.0\n\texample.com/other v1.0.0 // indirect\n)\n",
			},
			"go.mod requires example.com/big",
		},
		"the root module's requirements are those imported": {
			map[string]string{
				"go.mod":       "module m\nrequire example.com/big v1.0.0 // indirect\n",
				"worker/a.go":  `package worker; import _ "example.com/big/part"`,
				"worker/ok.go": `package worker; import _ "fmt"`,
			}, `worker imports example.com/big/part of module "example.com/big"`,
		},
	}
	for name, law := range laws() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			violation, planted := violations[name]
			require.True(t, planted, "plant a violation of this law")
			files := map[string]string{"go.mod": "module m\n", "tool/tool.go": "package tool"}
			require.Empty(t, law(readRepository(t, mapFS(files))))
			maps.Copy(files, violation.files)
			found := law(readRepository(t, mapFS(files)))
			require.Len(t, found, 1)
			require.True(t, strings.HasPrefix(found[0], violation.want), found[0])
		})
	}
}

// one is a repository of one file.
func one(name, body string) map[string]string {
	return map[string]string{name: "package p\n" + body}
}

func mapFS(files map[string]string) fstest.MapFS {
	out := make(fstest.MapFS, len(files))
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

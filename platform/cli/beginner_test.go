package cli_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/worker"
)

var updateGolden = flag.Bool("update", false, "rewrite testdata/beginner.golden")

// mistake is a command line that a beginner writes, with the file that it reads.
type mistake struct {
	what string // What went wrong, for readers of the golden file.
	file string // The text of FILE.
	args string
	key  string // Permissions of the key, with commas; "*" when empty.
	vars map[string]string
}

const plainTool = "kind: tool\nslug: getOrder\ndescription: Finds an order.\n"

var mistakes = []mistake{
	{what: "a command that does not exist", args: "tol list"},
	{what: "a subcommand that does not exist", args: "tool lst"},
	{what: "a flag that does not exist", args: "tool list --colour"},
	{what: "a missing operand", args: "tool show"},
	{what: "too many operands", args: "tool show a b"},
	{what: "apply without a file", args: "apply"},
	{what: "apply with a file and without -f", args: "apply orders.yaml"},
	{what: "a misspelled flag", args: "tool list --limt 3"},
	{what: "a number that is none", args: "tool list --limit x"},
	{what: "two flags that exclude each other", args: "tool rename a b --keep-until 2030-01-01 --drop-former"},
	{what: "a file that is not there", args: "apply -f nowhere.yaml"},
	{what: "YAML with a tab", file: "kind: tool\nslug:\n\t- x\n", args: "apply -f FILE"},
	{what: "a misspelled field", file: plainTool + "implementation_typ: internal\n", args: "apply -f FILE"},
	{what: "no implementation type", file: plainTool, args: "apply -f FILE"},
	{
		what: "an implementation type that does not exist", file: plainTool + "implementation_type: rest\n",
		args: "apply -f FILE",
	},
	{
		what: "a slug with a space", file: "kind: tool\nslug: get order\nimplementation_type: internal\n",
		args: "apply -f FILE",
	},
	{
		what: "a version that is no semantic version", file: plainTool + "implementation_type: internal\nversion: v1\n",
		args: "apply -f FILE",
	},
	{
		what: "a malformed input schema", file: plainTool + "implementation_type: internal\ninput_schema: {type: strin}\n",
		args: "apply -f FILE",
	},
	{what: "an http tool without a URL", file: plainTool + "implementation_type: http\n", args: "apply -f FILE"},
	{
		what: "an http tool that may not call out",
		file: plainTool + "publish: true\nimplementation_type: http\nimplementation_config: {url: " +
			"https://orders.example.com/}\ninput_schema: {type: object, properties: {id: {type: string}}}\n",
		args: "apply -f FILE",
	},
	{
		what: "a URL with a variable that the schema does not declare",
		file: plainTool + "implementation_type: http\negress_class: read_only\nimplementation_config: {url: " +
			"'https://orders.example.com/{order}'}\ninput_schema: {type: object, properties: {id: {type: string}}}\n",
		args: "apply -f FILE",
	},
	{
		what: "a credential that is not there, a permission that no key has, and a tool that changes something",
		file: plainTool + "implementation_type: http\negress_class: write\nrequired_permission: orders.write\n" +
			"implementation_config: {method: POST, url: 'https://orders.example.com/', auth: {type: bearer, credentials_ref: " +
			"orders}}\ninput_schema: {type: object, properties: {id: {type: string}}}\n",
		args: "apply -f FILE",
	},
	{
		what: "a function that no worker has",
		file: plainTool + "publish: true\nimplementation_type: function\nimplementation_config: {function_name: " +
			"convertWeigth}\ninput_schema: {type: object, properties: {id: {type: string}}}\n",
		args: "apply -f FILE",
	},
	{
		what: "a function tool with more than its function",
		file: plainTool + "implementation_type: function\nimplementation_config: {function_name: convertWeight, url: x}\n",
		args: "apply -f FILE",
	},
	{
		what: "a prompt that may not leave",
		file: plainTool + "publish: true\nimplementation_type: prompt\nimplementation_config: {mode: direct, model: " +
			"acme/small, prompt_template: 'Find {{id}}'}\ninput_schema: {type: object, properties: {id: {type: string}}}\n",
		args: "apply -f FILE",
	},
	{
		what: "an agent with a tool that does not exist, and a model that no worker has",
		file: "kind: agent\nslug: desk\ninstructions: Help.\nmodel: opnai/gpt\npublish: true\ntools: [sayWord]\n",
		args: "apply -f FILE",
	},
	{what: "an agent without a model", file: "kind: agent\nslug: desk\ninstructions: Help.\n", args: "apply -f FILE"},
	{
		what: "two definitions of one tool",
		file: plainTool + "implementation_type: internal\n---\n" + plainTool + "implementation_type: internal\n",
		args: "apply -f FILE",
	},
	{what: "a tool that does not exist", args: "tool show sayWord"},
	{what: "a call of a tool that does not exist", args: "tool call sayWord"},
	{what: "arguments that are no JSON", args: "tool call sayWords --args {words:[]}"},
	{what: "an argument without a value", args: "tool call sayWords --arg words"},
	{what: "a version that does not exist", args: "tool publish sayWords --version 9.0.0"},
	{what: "a version that is not raised enough", args: "tool version sayWords 0.9.0"},
	{what: "publishing a disabled tool", args: "tool publish offTool"},
	{what: "renaming to a slug that is taken", args: "tool rename sayWords offTool"},
	{what: "renaming to what is no slug", args: "tool rename sayWords 'say-it!'"},
	{what: "keeping a former name until yesterday", args: "tool rename sayWords sayAll --keep-until 2020-01-01"},
	{what: "a run of an agent that does not exist", args: "run start dsk --input x"},
	{what: "a run without input", args: "run start desk"},
	{what: "a run that does not exist", args: "run show 01987a3c-0000-7000-8000-000000000001"},
	{what: "a key without permissions", args: "key create ci"},
	{what: "a permission that nothing asks for", args: "key create ci --permission tools.wirte"},
	{what: "a permission of one's own that no tool asks for yet", args: "key create ci --permission payroll.see"},
	{
		what: "a key that may not apply", file: plainTool + "implementation_type: internal\n", args: "apply -f FILE",
		key: "tools.read",
	},
	{what: "a key that may not make keys", args: "key create ci --permission runs.write", key: "keys.write"},
	{what: "no key", args: "tool list", vars: map[string]string{cli.KeyVariable: ""}},
	{what: "a key that looks like none", args: "tool list", vars: map[string]string{cli.KeyVariable: "secret"}},
	{
		what: "a server that is not there", args: "tool list",
		vars: map[string]string{cli.ServerVariable: "http://127.0.0.1:1"},
	},
	{
		what: "a server's variable with a wrong value", args: "serve",
		vars: map[string]string{"TOOLCRIB_MAX_ANSWER_BYTES": "much"},
	},
	{what: "a worker without a database", args: "worker"},
	{what: "a folder of transcripts that is not there", args: "worker --database-url postgres://x --transcripts nowhere"},
	{what: "a port that is none", args: "worker --database-url postgres://x --allow-port http"},
}

var changing = regexp.MustCompile(`tck_[A-Za-z0-9_-]{8,}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|trace_id [0-9a-f]{32}`)

// What beginners read when they make a mistake: testdata/beginner.golden is for
// reading from top to bottom.
func TestBeginnersMistakes(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *serve.HandlerConfig) {
		c.ModelProviders = []string{"acme", "scripted"}
		c.Types = worker.Types(worker.Known{Functions: []string{"convertWeight"}, ModelProviders: c.ModelProviders})
	})
	s.write(
		t, "setup.yaml",
		sayYAML+"---\nkind: tool\nslug: offTool\ndescription: Off.\nimplementation_type: internal\nversion: 1.0.0\nstatus: "+
			"disabled\n",
	)
	s.ok(t, "apply", "-f", filepath.Join(s.dir, "setup.yaml"))
	server, vars := s.vars[cli.ServerVariable], s.vars
	tenant := s.tenant

	require.GreaterOrEqual(t, len(mistakes), 30)
	var golden strings.Builder
	for i, m := range mistakes {
		s.vars = map[string]string{cli.ServerVariable: server, cli.KeyVariable: vars[cli.KeyVariable]}
		if m.key != "" {
			s.vars[cli.KeyVariable] = s.Key(t, tenant, strings.Split(m.key, ",")...)
		}
		maps.Copy(s.vars, m.vars)
		args, file := fieldsOf(m.args), ""
		if m.file != "" {
			file = s.write(t, fmt.Sprintf("%02d.yaml", i), m.file)
			for n := range args {
				args[n] = strings.ReplaceAll(args[n], "FILE", file)
			}
		}
		got := s.run(t, args...)
		out := got.out + got.err
		here, err := os.Getwd()
		require.NoError(t, err)
		for _, known := range [][2]string{{file, "FILE"}, {server, "http://server"}, {s.dir, "DIR"}, {here, "HERE"}} {
			if known[0] != "" {
				out = strings.ReplaceAll(out, known[0], known[1])
			}
		}
		fmt.Fprintf(&golden, "# %s\n$ toolcrib %s\n%s=> %d\n\n", m.what, m.args, changing.ReplaceAllString(out, "…"),
			got.code)
		warned := got.code == cli.ExitOK && strings.Contains(out, "warning: ")
		require.True(t, warned || got.code != cli.ExitOK, "%s: neither refused nor warned of", m.what)
	}
	path := filepath.Join("testdata", "beginner.golden")
	if *updateGolden {
		require.NoError(t, os.WriteFile(path, []byte(golden.String()), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), golden.String(), "run this test with -update, and read what changed")
}

// fieldsOf splits a command line at spaces, but for those in single quotes.
func fieldsOf(line string) []string {
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	return args
}

// The example of apply --help can be applied and published as it stands.
func TestTheExampleOfApplyApplies(t *testing.T) {
	t.Parallel()
	s := setup(t)
	help := s.ok(t, "apply", "--help")
	_, example, ok := strings.Cut(help, "kind: tool")
	require.True(t, ok)
	example, _, ok = strings.Cut(example, "\n\n")
	require.True(t, ok)
	file := s.write(t, "help.yaml", "  kind: tool"+example)
	require.Contains(t, s.ok(t, "apply", "-f", file), "tool  getOrder  1.0.0    created, published")
	require.Empty(t, s.run(t, "apply", "-f", file).err, "no warning either")
}

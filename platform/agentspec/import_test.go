package agentspec_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/platform/agentspec"
	"github.com/toolcrib/toolcrib/registry/definition"
)

var update = flag.Bool("update", false, "write the expected definitions anew")

// samples returns the documents of testdata.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"testdata/*.json", "testdata/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(tb, err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(tb, err)
			out[strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))] = raw
		}
	}
	require.Greater(tb, len(out), 8)
	return out
}

// Documents become definitions that can be applied, with a list of what they lack: testdata/imported has both.
func TestImport(t *testing.T) {
	t.Parallel()
	for name, raw := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, err := agentspec.Import(raw, agentspec.Options{})
			require.NoError(t, err)
			for _, d := range in.Definitions {
				_, err := definition.Parse(d)
				require.NoError(t, err, string(d))
			}
			got, err := json.MarshalIndent(in, "", "  ")
			require.NoError(t, err)
			file := filepath.Join("testdata", "imported", name+".json")
			if *update {
				require.NoError(t, os.WriteFile(file, append(got, '\n'), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got))
		})
	}
}

// What was imported is exported and imported again as it was.
func TestImportedGraphsRoundTrip(t *testing.T) {
	t.Parallel()
	for name, raw := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, err := agentspec.Import(raw, agentspec.Options{})
			require.NoError(t, err)
			if name == "agent" {
				return
			}
			src, known := sourceOf(t, in)
			out, err := agentspec.Export(src, known)
			require.NoError(t, err)
			again, err := agentspec.Import(out.Document, agentspec.Options{})
			require.NoError(t, err)
			before, _ := graphOf(t, in.Definitions, in.Slug)
			after, _ := graphOf(t, again.Definitions, again.Slug)
			require.Empty(t, graph.Diff(before, after))
		})
	}
}

// sourceOf makes a source of an export, and what it uses, of definitions.
func sourceOf(tb testing.TB, in *agentspec.Imported) (agentspec.Source, agentspec.Known) {
	tb.Helper()
	known := agentspec.Known{Tools: map[string]agentspec.Source{}, Agents: map[string]agentspec.Agent{}}
	var root agentspec.Source
	for _, raw := range in.Definitions {
		var d struct {
			Kind, Slug, Name, Description string
			Model, Instructions           string
			Type                          string          `json:"implementation_type"`
			Config                        json.RawMessage `json:"implementation_config"`
			Input                         json.RawMessage `json:"input_schema"`
			Output                        json.RawMessage `json:"output_schema"`
		}
		require.NoError(tb, json.Unmarshal(raw, &d))
		if d.Kind == "agent" {
			known.Agents[d.Slug] = agentspec.Agent{Name: d.Name, Instructions: d.Instructions, Model: d.Model}
			continue
		}
		src := agentspec.Source{
			Slug: d.Slug, Name: d.Name, Description: d.Description, InputSchema: d.Input, OutputSchema: d.Output,
		}
		if d.Type == "graph" {
			src.Config = d.Config
		}
		known.Tools[d.Slug] = src
		if d.Slug == in.Slug {
			root = src
		}
	}
	return root, known
}

package cli_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/examples/handbook/lexical"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/ingesttest"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/embed"
	"github.com/toolcrib/toolcrib/retrieval/extract"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/tool"
)

// setupPipelines is setup with a server whose documents are ingested at once, and
// an embeddings endpoint that may be asked.
func setupPipelines(t *testing.T) (s *shell, endpoint string) {
	t.Helper()
	server := httptest.NewServer(lexical.Handler())
	t.Cleanup(server.Close)
	embedder := embed.New(egresstest.Gate(t, egress.Config{Policy: func(tool.TenantID) egress.Policy {
		return egress.Policy{AllowHosts: []string{strings.TrimPrefix(server.URL, "http://")}}
	}}), nil)
	return setup(t, func(cfg *serve.HandlerConfig) {
		i, err := ingest.New(ingest.Config{Store: cfg.Store, Extractor: extract.New(extract.Config{}), Embedder: embedder})
		require.NoError(t, err)
		cfg.Temporal, cfg.Searcher = ingesttest.New(cfg.Temporal, i), retrieval.NewEngine(cfg.Store, embedder)
	}), server.URL + "/v1"
}

const leave = "# Annual leave\n\n## How many days\n\nFull-time staff have 28 days a year.\n\n## Left over\n\nFive " +
	"days move into March.\n"

// A folder becomes a pipeline that is searched, measured, changed and deleted.
func TestPipeline(t *testing.T) {
	t.Parallel()
	s, endpoint := setupPipelines(t)
	require.Contains(t, s.run(t, "pipeline", "list").err, "no pipelines yet")
	require.Equal(t, "handbook is made, and searched by full_text; add documents with toolcrib pipeline add "+
		"handbook FILES\n",
		s.ok(t, "pipeline", "create", "handbook"))
	s.write(t, "docs/people/leave.md", leave)
	s.write(t, "docs/kiln.txt", "The kiln is fired on Mondays.")
	s.write(t, "docs/logo.png", "\x89PNG")
	s.write(t, "docs/.git/config.txt", "hidden")
	added := s.run(t, "pipeline", "add", "handbook", filepath.Join(s.dir, "docs"), "--meta", "team=people", "--meta",
		"year=2026", "--source", "https://example.com/docs/")
	require.Equal(t, cli.ExitOK, added.code, added.err)
	require.Equal(t, "ready     kiln.txt  1 passages\nready     people/leave.md  2 passages\n", added.out)
	require.Contains(t, added.err, "1 files of other types")
	listed := s.ok(t, "pipeline", "documents", "handbook")
	requireLines(t, listed, "KEY STATUS PASSAGES BYTES TYPE TITLE CHANGED")
	require.Regexp(t, `people/leave\.md +ready +2 +113 +text/markdown +Annual leave +\w`, listed)

	found := s.ok(t, "pipeline", "search", "handbook", "days of staff", "--filter",
		`{"team": "people", "year": {"gte": 2026}}`)
	require.True(
		t, strings.HasPrefix(found, "[1] Annual leave › How many days (https://example.com/docs/people/leave.md)"), found,
	)
	require.Contains(t, found, "    Full-time staff have 28 days a year.\n")
	none := s.run(t, "pipeline", "search", "handbook", "wombat")
	require.Equal(t, cli.ExitOK, none.code)
	require.Equal(t, "nothing was found by full_text\n", none.err)
	require.Equal(t, cli.ExitConflict, s.run(t, "pipeline", "search", "handbook", "kiln", "--by", "vector").code)

	require.Equal(t, "handbook is embedded by lexical-1\n",
		s.ok(t, "pipeline", "reembed", "handbook", "--url", endpoint, "--model", "lexical-1", "--dimensions", "64",
			"--shorten"))
	require.Contains(t, s.ok(t, "pipeline", "search", "handbook", "kilnn fire", "--by", "vector", "--limit", "1"),
		"kiln.txt")
	failed := s.run(t, "pipeline", "reembed", "handbook", "--url", endpoint, "--model", "another", "--dimensions", "64")
	require.Equal(t, cli.ExitFailure, failed.code)
	require.Contains(t, failed.out, "handbook stays as it was")
	require.Equal(
		t, "handbook is updated\n",
		s.ok(t, "pipeline", "update", "handbook", "--search", "hybrid", "--name", "Staff handbook"),
	)
	requireLines(t, s.ok(t, "pipeline", "show", "handbook"), "search hybrid", "documents 2",
		"embedded by lexical-1, 64 dimensions, at "+endpoint+", credential none")
	require.Regexp(t, `handbook +Staff handbook +hybrid +lexical-1 +\w`, s.ok(t, "pipeline", "list"))

	questions := s.write(t, "questions.yaml", "questions:\n  - {ask: days of staff, kind: words, in: {document: "+
		"people/leave.md, heading: How many days}}\n"+
		"  - {ask: klin, kind: typo, in: {document: kiln.txt}}\n")
	requireLines(t, s.ok(t, "pipeline", "evaluate", "handbook", questions), "SEARCHED QUESTIONS RECALL@5 MRR @typo @words",
		"full_text 2 0.50 0.50 0.00 1.00")

	require.Equal(t, "deleted people/leave.md\n", s.ok(t, "pipeline", "remove", "handbook", "people/leave.md"))
	require.Equal(t, cli.ExitNotFound, s.run(t, "pipeline", "remove", "handbook", "people/leave.md").code)
	require.Equal(t, "deleted handbook\n", s.ok(t, "pipeline", "delete", "handbook"))
	require.Equal(t, cli.ExitNotFound, s.run(t, "pipeline", "show", "handbook").code)
}

// What can't be a document is refused before anything is added, in words.
func TestPipelineAddRefuses(t *testing.T) {
	t.Parallel()
	s, _ := setupPipelines(t)
	s.ok(t, "pipeline", "create", "handbook")
	good := s.write(t, "good.md", leave)
	large := s.write(t, "large.txt", "")
	require.NoError(t, os.Truncate(large, retrieval.MaxDocumentBytes+1))
	twin := s.write(t, "other/good.md", "another")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{s.write(t, "logo.png", "x")}, cli.ExitInvalid, `documents that end in ".png"`},
		{[]string{s.write(t, "empty.md", "")}, cli.ExitInvalid, "is empty"},
		{[]string{large}, cli.ExitInvalid, "more than 10 MiB"},
		{[]string{s.write(t, "binary.txt", "a\x00b")}, cli.ExitInvalid, "is binary"},
		{[]string{s.write(t, "latin.txt", "caf\xe9")}, cli.ExitInvalid, "neither UTF-8 nor UTF-16"},
		{[]string{s.write(t, "not.pdf", "hello")}, cli.ExitInvalid, "is not a PDF"},
		{[]string{filepath.Join(s.dir, "absent.md")}, cli.ExitNotFound, "there is no file or folder"},
		{[]string{t.TempDir()}, cli.ExitUsage, "nothing to add"},
		{[]string{"-"}, cli.ExitUsage, "--document-key"},
		{[]string{"-", "--document-key", "tck_abcdefgh"}, cli.ExitUsage, "looks like an API key"},
		{[]string{twin, "--title", "a", s.dir}, cli.ExitUsage, "for one file"},
		{[]string{twin, "--meta", "team"}, cli.ExitUsage, "field=value"},
		{[]string{twin, "--type", "image/png"}, cli.ExitUsage, "text/markdown"},
		{[]string{twin}, cli.ExitUsage, "would both be"},
	} {
		got := s.run(t, append([]string{"pipeline", "add", "handbook", good}, c.args...)...)
		require.Equal(t, c.code, got.code, "%s: %s", c.args, got.err)
		require.Contains(t, got.err, c.says, c.args)
	}
	require.Contains(t, s.run(t, "pipeline", "documents", "handbook").err, "no documents yet")
	for _, args := range [][]string{
		{"pipeline", "add", "handbook"},
		{"pipeline", "remove", "handbook"},
		{"pipeline", "update", "handbook"},
		{"pipeline", "reembed", "handbook"},
		{"pipeline", "create", "wiki", "--embedding-model", "x"},
		{"pipeline", "search", "handbook", "x", "--filter", "{"},
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, args...).code, args)
	}
}

// Standard input is a document, and one that fails ends the command so.
func TestPipelineAddFollows(t *testing.T) {
	t.Parallel()
	s, _ := setupPipelines(t)
	s.ok(t, "pipeline", "create", "handbook")
	got := s.pipe(t, leave, "pipeline", "add", "handbook", "-", "--document-key", "leave", "--type",
		"text/markdown", "--title", "Leave", "--json")
	require.Equal(t, cli.ExitOK, got.code, got.err)
	var added struct {
		Failed int
		Items  []v1.Document
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &added))
	require.Equal(t, retrieval.Ready, added.Items[0].Status)
	require.Equal(t, "Leave", added.Items[0].Title)

	got = s.pipe(t, "<p>Nobody reads pages here.", "pipeline", "add", "handbook", "-", "--document-key", "page", "--type",
		"text/html")
	require.Equal(t, cli.ExitFailure, got.code)
	require.True(t, strings.HasPrefix(got.out, "failed    page  "), got.out)
	require.Contains(t, s.ok(t, "pipeline", "documents", "handbook", "--status", "failed"), "page")
}

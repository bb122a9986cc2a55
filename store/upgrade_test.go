package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// pastStep is a step as some database was made with.
type pastStep struct {
	version        int
	name           string
	text, checksum string
	nothing        bool // A number kept for a step to come.
}

// stepFile reads a step from a file. What is built concurrently is built at
// once in a database that has no one else.
func stepFile(t *testing.T, version int, name, file string) pastStep {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	sum := sha256.Sum256(raw)
	return pastStep{
		version: version, name: name, checksum: hex.EncodeToString(sum[:]),
		text:    strings.ReplaceAll(string(raw), " concurrently ", " "),
		nothing: strings.Contains(file, "/blank."),
	}
}

// currentSteps are the steps as they are now.
func currentSteps(t *testing.T) []pastStep {
	t.Helper()
	steps, err := store.Migrations()
	require.NoError(t, err)
	out := make([]pastStep, len(steps))
	for i, step := range steps {
		out[i] = stepFile(t, step.Version, step.Name, fmt.Sprintf("migrations/%03d_%s.up.sql", step.Version, step.Name))
		require.Equal(t, step.Checksum, out[i].checksum)
	}
	return out
}

// pastRoles makes the group roles, for tests that run before any migration.
var pastRoles sync.Once

// pastDatabase makes a database as it was after the steps, with rows in every
// table, and returns the superuser's URL.
func pastDatabase(t *testing.T, steps []pastStep) string {
	t.Helper()
	pastRoles.Do(func() { storetest.NewDatabase(t) }) // The roles belong to the cluster.
	address := storetest.NewEmpty(t)
	conn := storetest.Connect(t, address)
	run := func(sql string, args ...any) {
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	run("grant create, usage on schema public to toolcrib_owner; grant usage on schema public to toolcrib_app, " +
		"toolcrib_maintenance")
	run(`set role toolcrib_owner; create table toolcrib_migrations (
		version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`)
	for _, step := range steps {
		run("set role toolcrib_owner")
		run(step.text)
		run("insert into toolcrib_migrations (version, name, checksum) values ($1, $2, $3)", step.version, step.name,
			step.checksum)
		run("reset role")
		rows, err := os.ReadFile(fmt.Sprintf("testdata/rows/%03d_%s.sql", step.version, step.name))
		if err == nil && !step.nothing {
			run(string(rows))
		}
	}
	return address
}

// requireUpgraded brings the database up to date and holds it to what a new one
// is, and to the rows it had.
func requireUpgraded(t *testing.T, address, want string) {
	t.Helper()
	conn := storetest.Connect(t, address)
	before := rowCounts(t, conn)
	delete(before, "toolcrib_migrations")
	_, err := store.Migrate(t.Context(), address)
	require.NoError(t, err)
	require.Equal(t, want, sortedLines(dump(t, address)))
	after := rowCounts(t, conn)
	for table, n := range before {
		if slices.Contains(derivedTables, table) || slices.Contains(discardedTables, table) {
			continue
		}
		require.Equal(t, n, after[table], "%s keeps its rows", table)
		require.NotZero(t, n, "%s has rows: add some to testdata/rows", table)
	}
	require.Empty(t, texts(t, conn, `select t.slug || ' ' || w::text from tenants t cross join recount_quotas(t.id, false) w
		where w::text <> '[]'`), "what tenants had is counted")
	again, err := store.Migrate(t.Context(), address)
	require.NoError(t, err)
	require.Empty(t, again)
	if before["tool_invocations"] > 0 {
		require.Equal(t, []string{"failed failed"}, texts(t, conn, `select distinct status || ' ' || coalesce(failed_status, '')
			from tool_invocations where status not in ('pending', 'approved', 'running', 'waiting', 'completed')`))
	}

	s, err := store.Open(t.Context(), address, store.Options{SetRole: store.AppRole})
	require.NoError(t, err)
	defer s.Close()
	if before["run_events"] == 0 {
		return
	}
	var tenant tool.TenantID
	require.NoError(t, conn.QueryRow(t.Context(), "select tenant_id::text from runs limit 1").Scan(&tenant))
	events, err := s.TenantEvents(t.Context(), tenant, 0, 100)
	require.NoError(t, err)
	require.Len(t, events, before["run_events"])
	runs, err := s.ListRuns(t.Context(), tenant, store.RunQuery{})
	require.NoError(t, err)
	require.Len(t, runs, before["runs"])
	if before["documents"] > 0 {
		requireSearched(t, s, conn)
	}
}

// requireSearched finds a document that was ingested before the upgrade by a part
// of an identifier, and reads its text.
func requireSearched(t *testing.T, s *store.Store, conn *pgx.Conn) {
	t.Helper()
	var tenant tool.TenantID
	var pipeline string
	require.NoError(
		t,
		conn.QueryRow(t.Context(), "select tenant_id::text, pipeline_id::text from documents where key = 'searched'").Scan(
			&tenant, &pipeline,
		),
	)
	found, err := s.SearchIndex(t.Context(), tenant, retrieval.IndexQuery{
		Pipeline: pipeline, Text: "enable replication", Limit: 1,
	})
	require.NoError(t, err)
	require.Len(t, found.Text, 1)
	require.Greater(t, found.Text[0].Score, 1.0)
	_, text, err := s.ReadText(t.Context(), tenant, pipeline, found.Text[0].DocumentID)
	require.NoError(t, err)
	require.Equal(t, "\n\nSet history.enableReplicationDLQV2. Then wait.", text)
	require.Equal(t, found.Text[0].Text, text[found.Text[0].Start:found.Text[0].End])
}

// discardedTables lose their rows in an upgrade on purpose: a call that finds no
// session with an MCP server begins one.
var discardedTables = []string{"mcp_sessions"}

// derivedTables are filled by the migrations or by what reads the others.
var derivedTables = []string{
	"tenant_event_heads", "event_seals", "leases", "word_blocks", "word_documents", "word_postings",
	"quota_counts",
}

func rowCounts(t *testing.T, conn *pgx.Conn) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, table := range texts(t, conn, "select relname::text from "+tables+" and not c.relispartition") {
		var n int
		require.NoError(t, conn.QueryRow(t.Context(), "select count(*) from "+pgx.Identifier{table}.Sanitize()).Scan(&n))
		counts[table] = n
	}
	return counts
}

// sortedLines compares schemas without the order of their columns, which is that
// in which they were added.
func sortedLines(dump string) string {
	lines := strings.Split(dump, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSpace(line), ",")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func freshSchema(t *testing.T) string {
	t.Helper()
	return sortedLines(dump(t, storetest.NewDatabase(t).URL))
}

func TestUpgradeFromEachMigration(t *testing.T) {
	t.Parallel()

	want := freshSchema(t)
	steps := currentSteps(t)
	for n := range steps {
		t.Run(fmt.Sprintf("%03d", n+1), func(t *testing.T) {
			t.Parallel()
			requireUpgraded(t, pastDatabase(t, steps[:n+1]), want)
		})
	}
}

// pastState is the set of steps of one commit.
type pastState struct {
	commit string
	steps  []string // As NNN_name.checksum.
}

func pastStates(t *testing.T) []pastState {
	t.Helper()
	raw, err := os.ReadFile("testdata/former/history.txt")
	require.NoError(t, err)
	var states []pastState
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); !strings.HasPrefix(line, "#") {
			states = append(states, pastState{commit: fields[0], steps: fields[1:]})
		}
	}
	require.NotEmpty(t, states)
	return states
}

// Before the first release steps were edited after they had been applied, and
// one was dropped: databases of every commit upgrade all the same.
func TestUpgradeFromEachFormerCommit(t *testing.T) {
	t.Parallel()

	want := freshSchema(t)
	current := currentSteps(t)
	for _, state := range pastStates(t) {
		t.Run(state.commit, func(t *testing.T) {
			t.Parallel()
			var steps []pastStep
			for _, spec := range state.steps {
				stem, sum, _ := strings.Cut(spec, ".")
				version, err := strconv.Atoi(stem[:3])
				require.NoError(t, err)
				if version <= len(current) && current[version-1].name == stem[4:] &&
					strings.HasPrefix(current[version-1].checksum, sum) {
					steps = append(steps, current[version-1])
					continue
				}
				file := "testdata/former/" + spec + ".sql"
				if _, err := os.Stat(file); err != nil {
					file = "testdata/former/blank." + sum + ".sql"
				}
				step := stepFile(t, version, stem[4:], file)
				require.True(t, strings.HasPrefix(step.checksum, sum), "%s is not the file it was", file)
				steps = append(steps, step)
			}
			address := pastDatabase(t, steps)
			_, err := store.Open(t.Context(), address, store.Options{SetRole: store.AppRole})
			require.Error(t, err, "it is migrated first")
			requireUpgraded(t, address, want)
		})
	}
}

// Every migration that was ever in the main branch is one of today's or is
// recorded as a former one.
func TestEveryFormMigrationsHadIsRecorded(t *testing.T) {
	t.Parallel()

	git := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", args...).Output()
		require.NoError(t, err, "git %s", strings.Join(args, " "))
		return string(out)
	}
	if err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("not in a clone of the repository")
	}
	if strings.TrimSpace(git("rev-parse", "--is-shallow-repository")) == "true" {
		t.Skip("a shallow clone lacks the history to compare with: git fetch --unshallow")
	}
	known := map[string]bool{}
	for _, step := range currentSteps(t) {
		known[fmt.Sprintf("%03d_%s.%s", step.version, step.name, step.checksum[:12])] = true
	}
	for _, state := range pastStates(t) {
		for _, spec := range state.steps {
			known[spec] = true
		}
	}
	for commit := range strings.FieldsSeq(git("log", "--format=%H", "HEAD", "--", "migrations")) {
		var files []string
		numbers := map[string]int{}
		for file := range strings.FieldsSeq(git("ls-tree", "--name-only", commit, "migrations/")) {
			if strings.HasSuffix(file, ".up.sql") {
				files = append(files, file)
				numbers[filepath.Base(file)[:3]]++
			}
		}
		if len(numbers) < len(files) {
			continue // A number is taken twice: no binary of that commit migrates anything.
		}
		for _, file := range files {
			stem := strings.TrimSuffix(filepath.Base(file), ".up.sql")
			sum := sha256.Sum256([]byte(git("show", commit+":./"+file)))
			spec := stem + "." + hex.EncodeToString(sum[:])[:12]
			require.True(
				t, known[spec], "%s of commit %s was changed or dropped after it landed: never do, or record it in former.go",
				spec, commit[:7],
			)
		}
	}
}

// The rules of docs/upgrades.md, for the steps since databases are in use.
func TestMigrationsHoldNoOneUp(t *testing.T) {
	t.Parallel()

	const since = 20
	made := regexp.MustCompile(`(?i)create table (\w+)`)
	onTable := regexp.MustCompile(`(?i)create (?:unique )?index (?:if not exists )?\w+ on (?:only )?(\w+)`)
	for _, step := range currentSteps(t) {
		if step.version < since {
			continue
		}
		raw, err := os.ReadFile(fmt.Sprintf("migrations/%03d_%s.up.sql", step.version, step.name))
		require.NoError(t, err)
		name := fmt.Sprintf("%03d_%s", step.version, step.name)
		text := comments.ReplaceAllString(string(raw), "")
		var created []string
		for _, m := range made.FindAllStringSubmatch(text, -1) {
			created = append(created, m[1])
		}
		for _, m := range onTable.FindAllStringSubmatch(text, -1) {
			require.Contains(t, created, m[1], "%s: an index of a table in use is built concurrently, in a step that is online",
				name)
		}
		for statement := range strings.SplitSeq(text, ";") {
			if problem := holdsUp(statement, created); problem != "" {
				t.Errorf("%s: %s: %s", name, problem, strings.TrimSpace(statement))
			}
		}
		if breaking.MatchString(text) {
			require.Contains(t, string(raw), "-- migrate: compatible ", "%s: drops what older binaries may use", name)
		}
	}
	for statement, want := range map[string]bool{
		"alter table runs add constraint c check (turns > 0)":           true,
		"alter table runs add constraint c check (turns > 0) not valid": false,
		"alter table runs add check (turns > 0)":                        true,
		"alter table runs alter column turns type bigint":               true,
		"alter table runs alter column plan set not null":               true,
		"alter table runs add column x integer not null default 0":      false,
		"alter table runs add column x integer check (x > 0)":           true,
		"alter table mine add constraint c check (turns > 0)":           false,
	} {
		require.Equal(t, want, holdsUp(statement, []string{"mine"}) != "", statement)
	}
}

var (
	comments   = regexp.MustCompile(`(?m)--.*$`)
	altered    = regexp.MustCompile(`(?is)^\s*alter table (?:if exists )?(?:only )?(\w+)(.*)$`)
	constraint = regexp.MustCompile(`(?is)\b(check\s*\(|foreign key|references\s)`)
	rewrites   = regexp.MustCompile(`(?is)\b(set not null|type\s+\w+|set data type)`)
	breaking   = regexp.MustCompile(`(?im)^\s*(drop table|drop function|drop procedure)|\bdrop column\b|\brename (to|column)\b`)
)

// holdsUp says why a statement would keep the users of a table waiting.
func holdsUp(statement string, created []string) string {
	m := altered.FindStringSubmatch(statement)
	if m == nil || slices.Contains(created, m[1]) {
		return ""
	}
	switch {
	case constraint.MatchString(m[2]) && !strings.Contains(strings.ToLower(m[2]), "not valid"):
		return "a constraint on a table in use is added not valid, and validated in a later statement that is online"
	case rewrites.MatchString(m[2]) && !strings.Contains(strings.ToLower(m[2]), "add column"):
		return "the table is scanned or written anew under a lock"
	}
	return ""
}

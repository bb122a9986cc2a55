package toolcrib_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const operationsPage = "docs/operations.md"

var (
	// instrument is where a metric is made, by OpenTelemetry's name or by Prometheus'.
	instrument = regexp.MustCompile(
		`(?:[Cc]ounter|[Hh]istogram|Gauge|NewDesc)\(\s*(?:&[\w.]+,\s*)?"(toolcrib[._][a-z._]+)"|Name: "(toolcrib_[a-z_]+)"`)
	shownMetric = regexp.MustCompile("(?m)^\\| `(toolcrib_[a-z_]+)`")
	tableName   = regexp.MustCompile(`(?m)^create table (\w+)`)
)

// baseOf is a metric's name without what Prometheus adds for its type and unit.
func baseOf(name string) string {
	name = strings.ReplaceAll(name, ".", "_")
	return strings.TrimSuffix(strings.TrimSuffix(name, "_total"), "_seconds")
}

// madeMetrics returns the metrics that a text of Go makes.
func madeMetrics(text string) (out []string) {
	for _, m := range instrument.FindAllStringSubmatch(text, -1) {
		out = append(out, baseOf(m[1]+m[2]))
	}
	return out
}

// Every metric that the code makes has its row in the runbook, and every row its metric.
func TestEveryMetricIsInTheRunbook(t *testing.T) {
	t.Parallel()

	var made []string
	require.NoError(t, filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			made = append(made, madeMetrics(readFile(t, file))...)
		}
		return err
	}))
	slices.Sort(made)
	made = slices.Compact(made)
	require.Greater(t, len(made), 35)
	var shown []string
	for _, m := range shownMetric.FindAllStringSubmatch(readFile(t, operationsPage), -1) {
		shown = append(shown, baseOf(m[1]))
	}
	require.ElementsMatch(t, made, shown)
}

// Every table says in the runbook what bounds it.
func TestEveryTableIsInTheRunbook(t *testing.T) {
	t.Parallel()

	page := readFile(t, operationsPage)
	tables := tableName.FindAllStringSubmatch(readFile(t, "store/schema.sql"), -1)
	require.Greater(t, len(tables), 50)
	for _, table := range tables {
		require.Contains(t, page, "`"+table[1]+"`", "%s: what bounds it?", table[1])
	}
}

// The reader of metrics finds each way to make one.
func TestMadeMetrics(t *testing.T) {
	t.Parallel()

	require.Equal(t, []string{"toolcrib_a", "toolcrib_b_c", "toolcrib_d", "toolcrib_e"}, madeMetrics(
		`counter(&out.a, "toolcrib.a", "x") m.Float64Histogram("toolcrib.b.c") NewDesc("toolcrib_d_total", "x")
		GaugeOpts{Name: "toolcrib_e"} "toolcrib.pending"`))
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(raw)
}

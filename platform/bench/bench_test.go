package bench_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/bench"
)

// tiny is enough to see that each benchmark does its work and notices when it
// was not done.
func tiny() bench.Size {
	return bench.Size{
		Rounds: 1, Loops: 2, AtOnce: 2, Alone: 1, Turns: 3, Fans: 1, Growth: []int{4, 8}, Window: 3,
		Micro: 5 * time.Millisecond, Tenants: 5, Tools: []int{20, 50}, Lookups: 30, Largest: 40, Listed: 250, Backlog: 6,
		Probes: 3,
		Starts: 1, Waiting: 4, Settle: 200 * time.Millisecond, Overload: time.Second,
	}
}

// Every benchmark runs, checks its work, and says what it found. How fast
// anything was is not looked at.
func TestRun(t *testing.T) {
	t.Parallel()
	var out, page, progress bytes.Buffer
	figures, err := bench.Run(t.Context(), bench.Config{Size: tiny(), Out: &out, Report: &page, Progress: &progress})
	require.NoError(t, err, "%s", &progress)

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, len(figures))
	names := map[string]bool{}
	for i, line := range lines {
		var f bench.Figure
		require.NoError(t, json.Unmarshal([]byte(line), &f), line)
		require.Equal(t, figures[i], f, "a line holds the figure")
		require.Positive(t, f.Ours, f.Name)
		require.Positive(t, f.N, f.Name)
		require.Equal(t, f.Target != "", f.OK != nil, "%s: what has a target reached it or did not", f.Name)
		require.Contains(t, page.String(), "| "+f.Name+" |")
		names[f.Name] = true
	}
	require.Len(t, names, len(figures), "no name stands for two figures")
	for _, name := range []string{
		"agent_loop_fast_16", "agent_loop_visible_16", "chain_fast_16", "chain_fast_1", "in_process_placeOrder",
		"fan_out_fast",
		"fan_out_visible", "turn_8_fast", "history_per_turn_visible", "resolve_database_50", "resolve_cached_50",
		"page_filtered_50", "noisy_tenant", "neighbours_p99", "overload_goodput", "overload_refusals",
		"mcp_list_page_250", "mcp_call",
	} {
		require.True(t, names[name], name)
	}
	require.Contains(t, progress.String(), "left out: Node 20 or later is not installed", "peers need Node")
	for _, name := range bench.Names() {
		require.Contains(t, progress.String(), name)
	}
}

func TestRunRefusesUnknownBenchmarks(t *testing.T) {
	t.Parallel()
	_, err := bench.Run(t.Context(), bench.Config{Size: tiny(), Only: []string{"chain", "speed"}})
	require.ErrorContains(t, err, `no benchmark "speed"`)
	require.ErrorContains(t, err, "agentloop")
}

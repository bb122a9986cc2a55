package observe_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
)

// series is what the metrics show: the labels of each series by its name.
type series map[string][]map[string]string

var (
	sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? `)
	pair   = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"`)
)

// scrape reads /metrics as Prometheus does.
func scrape(t *testing.T) series {
	t.Helper()
	resp, body := shared.request(t, http.MethodGet, "/metrics", "", nil)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	out := make(series)
	for line := range strings.Lines(string(body)) {
		m := sample.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		labels := make(map[string]string)
		for _, p := range pair.FindAllStringSubmatch(m[2], -1) {
			labels[p[1]] = p[2]
		}
		out[m[1]] = append(out[m[1]], labels)
	}
	return out
}

// has reports whether there is a series of a name with these labels.
func (s series) has(name string, labels map[string]string) bool {
	return slices.ContainsFunc(s[name], func(have map[string]string) bool {
		for key, value := range labels {
			if have[key] != value {
				return false
			}
		}
		return true
	})
}

// work has everything happen that is counted.
func work(t *testing.T) {
	t.Helper()
	exercise(t)
	// A workflow that no worker knows fails its task again and again.
	run, err := shared.Temporal().ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "toolcrib"},
		"toolcrib.Unheard")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return scrape(t).has("temporal_workflow_task_execution_failed_total", nil)
	}, patience, 50*time.Millisecond)
	require.NoError(t, shared.Temporal().TerminateWorkflow(t.Context(), run.GetID(), "", "seen"))
	_, err = shared.Temporal().DescribeWorkflowExecution(t.Context(), "nothing", "")
	require.Error(t, err)
}

// Calls of every end are counted, by few labels: no tenant, no tool, no id.
func TestMetricsOfRealCalls(t *testing.T) {
	t.Parallel()

	work(t)
	got := scrape(t)
	for _, want := range []struct {
		name   string
		labels map[string]string
	}{
		{"toolcrib_calls_total", map[string]string{"implementation": "http", "status": "completed", "kind": "none"}},
		{"toolcrib_calls_total", map[string]string{"implementation": "http", "status": "failed", "kind": "unavailable"}},
		{"toolcrib_calls_total", map[string]string{"implementation": "http", "status": "failed", "kind": "denied"}},
		{"toolcrib_calls_total", map[string]string{"implementation": "function", "status": "unknown", "kind": "unknown"}},
		{"toolcrib_calls_total", map[string]string{"implementation": "none", "status": "failed", "kind": "not_found"}},
		{"toolcrib_call_attempts_total", map[string]string{"implementation": "function", "outcome": "said_no"}},
		{"toolcrib_call_attempts_total", map[string]string{"implementation": "http", "outcome": "answered"}},
		{"toolcrib_call_duration_seconds_bucket", map[string]string{"implementation": "http", "le": "0.1"}},
		{"toolcrib_calls_running", map[string]string{"implementation": "http"}},
		{"toolcrib_model_turn_duration_seconds_count", map[string]string{"provider": "test", "outcome": "answered"}},
		{"toolcrib_model_tokens_total", map[string]string{"provider": "test", "direction": "input"}},
		{"toolcrib_model_tokens_total", map[string]string{"provider": "test", "direction": "output"}},
		{"toolcrib_ledger_transitions_total", map[string]string{"phase": "admitted"}},
		{"toolcrib_ledger_transitions_total", map[string]string{"phase": "sent"}},
		{"toolcrib_ledger_transitions_total", map[string]string{"phase": "done"}},
		{"toolcrib_ledger_lost_total", map[string]string{"move": "mark_sent"}},
		{"toolcrib_egress_refusals_total", map[string]string{"reason": "address"}},
		{
			"toolcrib_http_request_duration_seconds_count",
			map[string]string{"method": "POST", "route": "/v1/tools/{tool}/call", "status": "200"},
		},
		{
			"toolcrib_http_request_duration_seconds_count",
			map[string]string{"method": "GET", "route": "none", "status": "404"},
		},
		{"toolcrib_database_connections", map[string]string{"state": "idle"}},
		{"toolcrib_task_queue_backlog", map[string]string{"task_queue": "toolcrib", "type": "activity"}},
		{"toolcrib_tenant_runs_pending", map[string]string{"tenant": "_other"}},
		{"toolcrib_tenant_runs_running", map[string]string{"tenant": "_other"}},
		{"toolcrib_tenant_calls_waiting", map[string]string{"tenant": "_other"}},
		{"toolcrib_runs_pending_age_seconds", nil},
		{"toolcrib_admission_refusals_total", map[string]string{"reason": "tenant_queue"}},
		{"toolcrib_build_info", map[string]string{"version": "1.2.3"}},
		{"temporal_activity_schedule_to_start_latency_seconds_bucket", map[string]string{"task_queue": "toolcrib"}},
		{"go_goroutines", nil},
		{"process_resident_memory_bytes", nil},
	} {
		require.True(t, got.has(want.name, want.labels), "%s%v, of %v", want.name, want.labels, got[want.name])
	}
	for name, all := range got {
		for _, labels := range all {
			for key, value := range labels {
				if strings.HasPrefix(name, "toolcrib_tenant_") && key == "tenant" {
					continue // A bounded number of tenants.
				}
				require.NotContains(t, []string{string(shared.Tenant().ID), shared.Tenant().Slug, "fetch", "fetchOnce", "desk"},
					value, "%s{%s}", name, key)
				require.NotContains(t, value, plantedArgument)
			}
		}
	}
}

// Every metric and label that the dashboard and the rules ask for is there
// after real calls.
func TestDashboardAndRulesAskForWhatThereIs(t *testing.T) {
	t.Parallel()

	work(t)
	got := scrape(t)
	expressions := slices.Concat(dashboard(t), rules(t))
	require.Greater(t, len(expressions), 30)
	for _, expression := range expressions {
		metrics, labels := asks(expression)
		require.NotEmpty(t, metrics, expression)
		known := map[string]bool{"job": true, "instance": true} // Prometheus' own.
		for _, name := range metrics {
			require.NotEmpty(t, got[name], "%s: no metric %s", expression, name)
			for _, have := range got[name] {
				for key := range have {
					known[key] = true
				}
			}
		}
		for _, label := range labels {
			require.True(t, known[label], "%s: %v have no label %q", expression, metrics, label)
		}
	}
}

// dashboard lists the expressions of the dashboard's panels.
func dashboard(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../../deploy/grafana/toolcrib.json")
	require.NoError(t, err)
	var board struct {
		Panels []struct {
			Type    string `json:"type"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	require.NoError(t, json.Unmarshal(raw, &board))
	var out []string
	for _, panel := range board.Panels {
		require.True(t, panel.Type == "row" || len(panel.Targets) > 0)
		for _, target := range panel.Targets {
			out = append(out, target.Expr)
		}
	}
	return out
}

// rules lists the expressions of the alert rules.
func rules(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../../deploy/grafana/alerts.yml")
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Expr        string            `yaml:"expr"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &file))
	var out []string
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["description"], rule.Alert)
			out = append(out, rule.Expr)
		}
	}
	return out
}

var (
	selector = regexp.MustCompile(`\{((?:[^}"]|"(?:[^"\\]|\\.)*")*)\}`)
	matcher  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)\s*"(?:[^"\\]|\\.)*"`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	ranges   = regexp.MustCompile(`\[[^\]]*\]`)
	word     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`)
	operator = []string{"and", "or", "unless", "bool", "offset"}
)

// asks returns the metrics and the labels that a PromQL expression names.
func asks(expression string) (metrics, labels []string) {
	for _, m := range selector.FindAllStringSubmatch(expression, -1) {
		for _, label := range matcher.FindAllStringSubmatch(m[1], -1) {
			labels = append(labels, label[1])
		}
	}
	rest := ranges.ReplaceAllString(selector.ReplaceAllString(expression, " "), " ")
	for _, m := range grouping.FindAllStringSubmatch(rest, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			labels = append(labels, strings.TrimSpace(name))
		}
	}
	for _, w := range word.FindAllString(grouping.ReplaceAllString(rest, " "), -1) {
		name := strings.TrimSpace(w)
		if !strings.HasSuffix(name, "(") && !slices.Contains(operator, name) {
			metrics = append(metrics, name)
		}
	}
	return metrics, labels
}

// The reader of expressions finds what is asked for, and would find a mistake.
func TestAsks(t *testing.T) {
	t.Parallel()

	metrics, labels := asks(`sum by (le, route) (rate(a_total{status=~"5..", kind!="x}"}[5m])) / on (instance) group_left (version) b > 0.5 and c`)
	require.Equal(t, []string{"a_total", "b", "c"}, metrics)
	require.Equal(t, []string{"status", "kind", "le", "route", "instance", "version"}, labels)
}

// The process says that it lives and what it stands on.
func TestHealth(t *testing.T) {
	t.Parallel()

	c, err := shared.client()
	require.NoError(t, err)
	defer c.Close()
	health, err := c.Ready(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ok", health.Status)
	for _, name := range []string{"database", "schema", "writes", "temporal"} {
		require.Equal(t, "ok", health.Checks[name].State, name)
	}
}

package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// usersOf lists who uses a tool, by kind and name, with the verdicts.
func (b *bundle) usersOf(t *testing.T, slug, query string) (v1.ToolUsage, map[string]v1.ToolUse) {
	t.Helper()
	var all v1.ToolUsage
	by := map[string]v1.ToolUse{}
	for cursor := ""; ; cursor = "&cursor=" + all.Next {
		all.Next = ""
		got := b.do(t, http.MethodGet, "/v1/tools/"+slug+"/users?limit=1"+query+cursor, "")
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		got.into(t, &all)
		for _, item := range all.Items {
			name := string(item.Kind) + " " + item.Name
			if !item.Published {
				name += " draft"
			}
			by[name] = item
		}
		if all.Next == "" {
			return all, by
		}
	}
}

func TestToolUsers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("find"), desk("loose", `["find"]`), desk("tight", `["find@~1.0.0"]`), desk("other", `["twice"]`),
		`{"kind":"tool","slug":"twice","implementation_type":"composition","version":"1.0.0","publish":true,
		"implementation_config":{"steps":[{"id":"first","tool":"find"},{"id":"second","tool":"find@^1"}]}}`)
	_, by := b.usersOf(t, "find", "")
	require.Len(t, by, 3)
	require.Equal(t, registry.VerdictStays, by["agent loose"].Verdict)

	// The draft requires an argument, so it is a major version.
	breaking := strings.Replace(echo("find"), `"properties"`, `"required":["say"],"properties"`, 1)
	breaking = strings.Replace(strings.Replace(breaking, `"publish":true,`, "", 1), "1.0.0", "2.0.0", 1)
	b.apply(t, breaking, strings.Replace(desk("late", `["find@^2"]`), `"publish":true,`, "", 1))
	usage, by := b.usersOf(t, "find", "")
	require.Equal(t, "draft", usage.Candidate)
	require.Equal(t, registry.VerdictBreaks, by["agent loose"].Verdict)
	require.Equal(t, []string{"1.0.0", "2.0.0"}, []string{by["agent loose"].Gets, by["agent loose"].WouldGet})
	require.Contains(t, by["agent loose"].Reason, "required now")
	require.NotEmpty(t, by["agent loose"].Changes)
	require.Equal(t, registry.VerdictStays, by["agent tight"].Verdict)
	require.Equal(t, "second", by["tool twice"].Through, "the last step of both")
	require.Equal(t, registry.VerdictStays, by["tool twice"].Verdict)
	require.Contains(t, by["tool twice"].Without, "its calls fail at second")
	require.Equal(t, registry.VerdictMoves, by["agent late draft"].Verdict)
	_, by = b.usersOf(t, "find", "&version=1.0.0")
	require.Equal(t, registry.VerdictStays, by["agent loose"].Verdict)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/tools/find/users?version=9.9.9", "").status)
	require.Equal(t, http.StatusUnprocessableEntity,
		b.do(t, http.MethodGet, "/v1/tools/find/users?cursor=eA", "").status)
}

func TestArchiveTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("find"), desk("support", `["find"]`), echo("alone"))
	refused := b.do(t, http.MethodPost, "/v1/tools/find/archive", "").problem(t)
	require.Equal(t, http.StatusConflict, refused.Status)
	require.Contains(t, refused.Detail, "agent support")
	b.do(t, http.MethodPost, "/v1/tools/find/disable", "")
	refused = b.do(t, http.MethodDelete, "/v1/tools/find", "").problem(t)
	require.Contains(t, refused.Detail, "cannot be deleted: by agent support")

	got := b.do(t, http.MethodPost, "/v1/tools/alone/archive", "")
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var archived v1.Tool
	got.into(t, &archived)
	require.Equal(t, tool.Disabled, archived.Status)
	require.NotNil(t, archived.ArchivedAt)
	slugs := func(query string) (out []string) {
		t.Helper()
		var page v1.Page[v1.Tool]
		b.do(t, http.MethodGet, "/v1/tools"+query, "").into(t, &page)
		for _, item := range page.Items {
			out = append(out, item.Slug)
		}
		return out
	}
	require.Equal(t, []string{"find"}, slugs(""))
	require.Equal(t, []string{"alone"}, slugs("?archived=true"))
	var versions v1.Page[v1.ToolVersion]
	b.do(t, http.MethodGet, "/v1/tools/alone/versions", "").into(t, &versions)
	require.Len(t, versions.Items, 1, "its versions stay")
	for _, verb := range []string{"enable", "publish"} {
		refused = b.do(t, http.MethodPost, "/v1/tools/alone/"+verb, "").problem(t)
		require.Contains(t, refused.Detail, "is archived: restore it", verb)
	}
	b.do(t, http.MethodPost, "/v1/tools/alone/restore", "").into(t, &archived)
	require.Equal(t, tool.Published, archived.Status)
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, "/v1/tools/alone/restore", "").status)
	require.Equal(t, []string{"alone", "find"}, slugs(""))
}

// served keeps a call of a tool in production that was answered.
func (b *bundle) served(t *testing.T, of v1.Tool, input, output string) string {
	t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	_, err := b.Store.Settle(t.Context(), ledger.Settlement{
		Entry: ledger.Entry{
			CallIdentity: tool.CallIdentity{
				InvocationID: id, Principal: tool.Principal{Tenant: b.tenant, Subject: "user:ada"}, CallID: "c",
				Mode: tool.Production,
			},
			VersionIdentity: tool.VersionIdentity{ToolID: of.ID, Slug: of.Slug, Version: "1.0.0"},
			Arguments:       json.RawMessage(input),
		},
		Status: tool.StatusFailed, Kind: tool.Unavailable, Msg: "down",
	})
	require.NoError(t, err)
	_, err = b.Conn(t).Exec(t.Context(), `update tool_invocations set status = 'completed', error_kind = '', error = '',
		failed_status = null, is_error = false, input = $3, output = $4 where tenant_id = $1 and id = $2`, b.tenant, id, input,
		`{"structured":`+output+`}`)
	require.NoError(t, err)
	return id
}

// A gate refuses a version until exactly its content was replayed and did not differ.
func TestPublishGate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("find"))
	var of v1.Tool
	b.do(t, http.MethodGet, "/v1/tools/find", "").into(t, &of)
	b.served(t, of, `{"say":"hello"}`, `{"said":"hello"}`)
	b.served(t, of, `{"say":"[redacted]"}`, `{"said":"hello"}`)
	unmade := b.served(t, of, `{"say":7}`, `{}`)
	_, err := b.Conn(t).Exec(t.Context(), `update tool_invocations set status = 'failed', error_kind = 'invalid', output = null,
		is_error = true, started_at = null where tenant_id = $1 and id = $2`, b.tenant, unmade)
	require.NoError(t, err, "a call that was refused before it reached the tool")

	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/publish-gate", "").status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPut, "/v1/publish-gate", `{"replay":10,"max_different":3}`).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPut, "/v1/tools/find/publish-gate", `{"replay":20}`).status)
	draft := func(version, extra string) {
		t.Helper()
		d := strings.Replace(strings.Replace(echo("find"), `"publish":true,`, extra, 1), "1.0.0", version, 1)
		b.apply(t, d)
	}
	refused := func(want string) {
		t.Helper()
		p := b.do(t, http.MethodPost, "/v1/tools/find/publish", "").problem(t)
		require.Equal(t, http.StatusConflict, p.Status)
		require.Contains(t, p.Detail, want)
	}
	replay := func(calls string) v1.Replay {
		t.Helper()
		got := b.do(t, http.MethodPost, "/v1/tools/find/replays", `{"calls":`+calls+`}`)
		require.Equal(t, http.StatusCreated, got.status, string(got.body))
		var r v1.Replay
		b.do(t, http.MethodGet, got.header.Get("Location"), "").into(t, &r)
		return r
	}
	draft("2.0.0", `"output_schema":{"type":"object","required":["total"]},`)
	refused("no recorded calls were replayed with exactly this content")
	r := replay("20")
	require.True(t, r.Ended)
	require.Equal(t, []int{0, 1, 1}, []int{r.Same, r.Different, r.Skipped})
	for _, c := range r.Calls {
		switch c.Outcome {
		case registry.ReplayDifferent:
			require.Contains(t, c.Differences[0], "the recorded answer is refused now")
		case registry.ReplaySkipped:
			require.Equal(t, "its arguments were redacted in the record", c.Reason)
		case registry.ReplaySame, registry.ReplayRunning:
			require.Fail(t, "no other outcome")
		}
	}
	refused("1 differ and 0 may")

	draft("2.0.0", `"output_schema":{"type":"object","required":["said"]},`)
	refused("exactly this content")
	replay("5")
	refused("had the last 5 calls")
	require.Equal(t, 1, replay("20").Same)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/find/publish", "").status)

	_, err = b.Conn(t).Exec(t.Context(),
		`update tool_invocations set input = '{"say":"[redacted]"}' where tenant_id = $1`, b.tenant)
	require.NoError(t, err)
	draft("2.1.0", `"name":"Find",`)
	r = replay("20")
	require.Equal(t, []int{0, 0, 2}, []int{r.Same, r.Different, r.Skipped})
	refused("compared none of 2 recorded calls: 2 were skipped (its arguments were redacted in the record)")

	require.Equal(t, http.StatusOK, b.do(t, http.MethodDelete, "/v1/tools/find/publish-gate", "").status)
	var gate v1.PublishGate
	b.do(t, http.MethodGet, "/v1/tools/find/publish-gate", "").into(t, &gate)
	require.Equal(t, v1.PublishGate{Replay: 10, MaxDifferent: 3, ChangedBy: gate.ChangedBy}, gate)
	var listed v1.Page[v1.Replay]
	b.do(t, http.MethodGet, "/v1/tools/find/replays?limit=1", "").into(t, &listed)
	require.Len(t, listed.Items, 1)
	require.NotEmpty(t, listed.Next)
	b.apply(t, echo("fresh")) // A first version has no recorded calls.
}

func TestCanaryOfATool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("find"))
	start := func(body string) answer { return b.do(t, http.MethodPost, "/v1/tools/find/canary", body) }
	require.Equal(t, http.StatusConflict, start(`{"share":10,"until_calls":20}`).status, "it is published already")
	b.apply(t, strings.Replace(strings.Replace(echo("find"), `"publish":true,`, `"name":"Find",`, 1), "1.0.0", "1.0.1", 1))
	require.Equal(t, http.StatusUnprocessableEntity, start(`{"share":10,"until_calls":20,"min_calls":21}`).status)
	got := start(`{"share":10,"until_calls":20,"max_error_percent":5}`)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	var c v1.Canary
	got.into(t, &c)
	require.Equal(t, registry.CanaryRunning, c.State)
	require.Equal(t, "1.0.1", c.Version)
	require.Equal(t, 5, c.MinCalls)

	var why v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/find/explain", "").into(t, &why)
	require.Equal(t, "1.0.0", why.Version)
	saw := ""
	for _, step := range why.Steps {
		if step.Rule == "canary" {
			saw = step.Saw
		}
	}
	require.Contains(t, saw, "is a canary for 10 % of the runs")
	require.Equal(t, http.StatusConflict, start(`{"version":"1.0.1","share":10,"until_calls":20}`).status)

	b.do(t, http.MethodPost, "/v1/tools/find/canary/stop", "").into(t, &c)
	require.Equal(t, registry.CanaryStopped, c.State)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodPost, "/v1/tools/find/canary/promote", "").status)
	var listed v1.Page[v1.Canary]
	for _, state := range []registry.CanaryState{registry.CanaryStopped, registry.CanaryReturned} {
		_, err := b.Conn(t).Exec(t.Context(), "update tool_canaries set state = $1", string(state))
		require.NoError(t, err)
		approval := strconv.FormatBool(state == registry.CanaryStopped)
		approval = `"publish":true,"name":"Find","requires_approval":` + approval + ","
		b.apply(t, strings.Replace(strings.Replace(echo("find"), `"publish":true,`, approval, 1), "1.0.0", "1.0.1", 1))
		require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/find/version?new_version=1.0.1", "").status)
		b.do(t, http.MethodGet, "/v1/tools/find/canaries", "").into(t, &listed)
		require.Equal(t, state, listed.Items[0].State, "a change of policy promotes no canary")
		b.do(t, http.MethodGet, "/v1/tools/find/explain", "").into(t, &why)
		require.Equal(t, "1.0.0", why.Version)
	}
	require.Equal(t, http.StatusCreated, start(`{"version":"1.0.1","share":10,"until_calls":20}`).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/find/publish?version=1.0.1", "").status)
	b.do(t, http.MethodGet, "/v1/tools/find/explain", "").into(t, &why)
	require.Equal(t, "1.0.1", why.Version, "publishing a canary gives it to every run")
	b.do(t, http.MethodGet, "/v1/tools/find/canaries", "").into(t, &listed)
	require.Equal(t, registry.CanaryPromoted, listed.Items[0].State)
}

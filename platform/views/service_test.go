package views_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/views"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
	"github.com/toolcrib/toolcrib/wait"
)

// What takes input, has no result or is not the caller's is not published.
func TestPublishRefuses(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(d *desk, r *views.Request)
		kind   tool.Kind
		says   string
	}{
		"a form":       {func(_ *desk, r *views.Request) { r.Kind = view.Form }, tool.Invalid, "displays only"},
		"another kind": {func(_ *desk, r *views.Request) { r.Kind = "input" }, tool.Invalid, "expected"},
		"for too long": {func(_ *desk, r *views.Request) { r.Keep = view.MaxKeep + 1 }, tool.Invalid, "good for"},
		"without runs.read": {
			func(_ *desk, r *views.Request) { r.Principal.Permissions = nil }, tool.Denied, "runs.read",
		},
		"a tool that is not shown": {
			func(_ *desk, r *views.Request) {
				r.Kind, r.Tool.Slug, r.Sees = view.Tool, "getOrder", func(*tool.Tool) bool { return false }
			}, tool.NotFound, `tool "getOrder"`,
		},
		"no run": {func(_ *desk, r *views.Request) { r.RunID = "x" }, tool.NotFound, "run not found"},
		"another's run": {
			func(_ *desk, r *views.Request) { r.Principal.Subject, r.Own = "key:b", true }, tool.NotFound, "run not found",
		},
		"another tenant's run": {
			func(_ *desk, r *views.Request) { r.Principal.Tenant = tool.TenantID(uuid.NewString()) },
			tool.NotFound, "run not found",
		},
		"an agent's run": {
			func(d *desk, _ *views.Request) { d.run.Kind = agent.RunKindAgent }, tool.Invalid, "run of an agent",
		},
		"a call that runs": {
			func(d *desk, _ *views.Request) { d.end = agent.CallEnd{Status: agent.RunRunning} }, tool.Conflict, "no result yet",
		},
		"a call that failed": {
			func(d *desk, _ *views.Request) { d.end.Result = nil }, tool.Conflict, "without a result",
		},
		"no tool": {func(_ *desk, r *views.Request) { r.Kind = view.Tool }, tool.Invalid, "slug or id"},
		"an unknown tool": {
			func(_ *desk, r *views.Request) { r.Kind, r.Tool.Slug = view.Tool, "none" }, tool.NotFound, `tool "none"`,
		},
		"while it is off": {func(d *desk, _ *views.Request) { d.on = false }, tool.Denied, "off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			r := views.Request{Principal: d.run.Principal, Kind: view.Result, RunID: d.run.ID}
			c.change(d, &r)
			_, err := d.service(t).Publish(t.Context(), r)
			require.Equal(t, c.kind, tool.KindOf(err))
			require.ErrorContains(t, err, c.says)
			require.Empty(t, d.view.ID)
		})
	}
}

// A principal that may not see runs publishes what it called itself alone, and rotates the link of no result.
func TestResultsTakeThePermissionToSeeRuns(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	d.run.Principal.Permissions = nil
	s := d.service(t)
	r := views.Request{Principal: d.run.Principal, Kind: view.Result, RunID: d.run.ID, Own: true}
	made, err := s.Publish(t.Context(), r)
	require.NoError(t, err)
	before := d.hash
	_, err = s.Rotate(t.Context(), r.Principal, made.ID, time.Hour)
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.ErrorContains(t, err, access.RunsRead)
	require.Equal(t, before, d.hash)
	d.view.Kind = view.Tool
	_, err = s.Rotate(t.Context(), r.Principal, made.ID, time.Hour)
	require.NoError(t, err)
}

// A response is checked step by step: token, tenant, permission, idempotency, schema. Each step refuses it before
// the next is asked, and nothing is recorded.
func TestResponsesFailClosed(t *testing.T) {
	t.Parallel()

	const good, bad = `{"seat":"4A"}`, `{"seat":7,"more":true}`
	other := tool.TenantID(uuid.NewString())
	steps := []struct {
		kind tool.Kind
		says string
		// pass lets a response that every step refuses pass this one.
		pass func(d *desk, r *views.Response)
	}{
		{tool.NotFound, "opens no request", func(d *desk, r *views.Response) { r.Token = link(t, d, time.Hour) }},
		{tool.NotFound, "opens no request", func(d *desk, r *views.Response) { r.Principal.Tenant = d.call.Principal.Tenant }},
		{tool.Denied, wait.SubmitPermission, func(_ *desk, r *views.Response) {
			r.Principal.Permissions = []string{wait.SubmitPermission}
		}},
		{tool.Conflict, "another answer", func(d *desk, _ *views.Response) {
			d.call.Status, d.call.Result = wait.CallPending, nil
		}},
		{tool.Invalid, "no field", func(_ *desk, r *views.Response) { r.Answer = json.RawMessage(good) }},
	}
	for passed := range len(steps) + 1 {
		d := newDesk(t)
		d.call.Status = wait.CallResolved
		d.call.Result = &tool.Result{Structured: json.RawMessage(`{"answer":{"seat":"1B"}}`)}
		r := views.Response{
			Principal: tool.Principal{Tenant: other, Subject: "key:b"}, Token: "none", Answer: json.RawMessage(bad),
		}
		for _, step := range steps[:passed] {
			step.pass(d, &r)
		}
		done, err := d.service(t).Respond(t.Context(), r)
		if passed == len(steps) {
			require.NoError(t, err)
			require.False(t, done.Repeated)
			require.Equal(t, "key:b", d.taken[0].Principal.Subject)
			continue
		}
		require.Equal(t, steps[passed].kind, tool.KindOf(err), passed)
		require.ErrorContains(t, err, steps[passed].says, passed)
		require.Empty(t, d.taken, passed)
	}
}

// link returns a link to the page of the request for input.
func link(t *testing.T, d *desk, good time.Duration) string {
	t.Helper()
	path, err := input.Link(&d.call, time.Now().Add(good))
	require.NoError(t, err)
	return "https://tools.example.com" + path
}

// A request keeps its first answer: the same again changes nothing, another is a conflict.
func TestResponsesAreTakenOnce(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	s := d.service(t)
	r := views.Response{
		Principal: tool.Principal{
			Tenant: d.call.Principal.Tenant, Subject: "key:b", Permissions: []string{wait.SubmitPermission},
		},
		Token: strings.TrimPrefix(link(t, d, time.Hour), "https://tools.example.com"+input.Path),
	}
	send := func(answer string) (bool, error) {
		r.Answer = json.RawMessage(answer)
		done, err := s.Respond(t.Context(), r)
		return done.Repeated, err
	}
	repeated, err := send(`{"seat":"4A"}`)
	require.NoError(t, err)
	require.False(t, repeated)
	repeated, err = send(` { "seat" : "4A" } `)
	require.NoError(t, err)
	require.True(t, repeated)
	_, err = send(`{"seat":"4B"}`)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.Len(t, d.taken, 1)

	r.Token = link(t, d, -time.Second)
	_, err = send(`{"seat":"4A"}`)
	require.Equal(t, tool.NotFound, tool.KindOf(err), "the link expired")
	r.Token, d.call.Status = link(t, d, time.Hour), wait.CallExpired
	_, err = send(`{"seat":"4A"}`)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	d.call.Key = []byte("another")
	_, err = send(`{"seat":"4A"}`)
	require.Equal(t, tool.NotFound, tool.KindOf(err), "links were revoked")
}

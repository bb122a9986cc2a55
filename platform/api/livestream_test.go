package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// topical is an event of the stream of topics.
type topical struct {
	Connection string          `json:"connection"`
	Topic      string          `json:"topic"`
	Cursor     string          `json:"cursor"`
	Event      tool.Event      `json:"event"`
	Changes    []v1.LiveChange `json:"changes"`
	Code       tool.Kind       `json:"code"`
	Detail     string          `json:"detail"`
	Status     string          `json:"status"`
}

// until reads the stream until it has an event of a name, of a topic where one is given.
func (s *stream) until(name, topic string) (frame, topical) {
	s.t.Helper()
	for {
		f, ok := s.next()
		require.True(s.t, ok, "the stream broke off before %s of %q", name, topic)
		if f.data == "" {
			continue
		}
		var e topical
		require.NoError(s.t, json.Unmarshal([]byte(f.data), &e), f.data)
		if f.event == name && (topic == "" || e.Topic == topic) {
			return f, e
		}
	}
}

// topics are those of a stream.
func topics(list ...string) string { return "/v1/stream?topics=" + strings.Join(list, ",") }

// A stream carries what happens to several things, each from where it is asked for.
func TestStreamOfTopics(t *testing.T) {
	t.Parallel()

	b := setup(t)
	run := b.record(t)
	s := b.stream(t, topics("runs", "run:"+run.ID+"@0", "approvals"), nil)
	_, hello := s.until(v1.EventHello, "")
	require.NotEmpty(t, hello.Connection)
	f, e := s.until(v1.EventRunEvent, "run:"+run.ID)
	require.Equal(t, tool.EventType("run.started"), e.Event.Type)
	require.Contains(t, f.id, "run:"+run.ID+"@1")

	b.say(t, run, 1, 1, "The order is")
	_, e = s.until(v1.EventRunEvent, "run:"+run.ID)
	require.Equal(t, tool.EventType("agent.output_appended"), e.Event.Type)
	require.Equal(t, "2", e.Cursor)

	b.settle(t, run, tool.StatusFailed)
	_, e = s.until(v1.EventChanges, "runs")
	require.Equal(t, run.ID, e.Changes[0].RunID)
	require.NotEmpty(t, e.Changes[0].InvocationID)
	require.Equal(t, []tool.EventType{tool.EventFailed}, e.Changes[0].Types)

	b.finish(t, run)
	_, e = s.until(v1.EventEnd, "run:"+run.ID)
	require.Equal(t, "completed", e.Status)

	asked := b.asks(t, "user:someone")
	_, e = s.until(v1.EventChanges, "approvals")
	require.Equal(t, asked.ID, e.Changes[0].InvocationID)
}

// Topics are changed without another connection, by who opened it.
func TestTopicsChange(t *testing.T) {
	t.Parallel()

	b := setup(t)
	run := b.record(t)
	s := b.stream(t, topics("runs"), nil)
	_, hello := s.until(v1.EventHello, "")
	at := "/v1/stream/" + hello.Connection + "/topics"
	set := func(key string, list ...string) answer {
		raw, err := json.Marshal(v1.LiveTopics{Topics: list})
		require.NoError(t, err)
		return b.do(t, http.MethodPost, at, string(raw), key)
	}
	var state v1.LiveState
	set(b.key, "runs", "run:"+run.ID+"@0", "nonsense").into(t, &state)
	require.Len(t, state.Topics, 2)
	require.Equal(t, v1.LiveTopic{Topic: "run:" + run.ID, Cursor: "0"}, state.Topics[1])
	require.Equal(t, tool.Invalid, state.Refused[0].Code)
	_, e := s.until(v1.EventRunEvent, "run:"+run.ID)
	require.Equal(t, "1", e.Cursor)

	set(b.key, "run:"+run.ID).into(t, &state)
	require.Equal(t, []v1.LiveTopic{{Topic: "run:" + run.ID, Cursor: "1"}}, state.Topics, "it goes on where it is")
	b.say(t, run, 1, 1, "more")
	f, _ := s.until(v1.EventRunEvent, "run:"+run.ID)
	require.Equal(t, "run:"+run.ID+"@2", f.id, "the other topic has ended")

	require.Equal(t, http.StatusNotFound, set(b.Key(t, b.tenant, "*"), "runs").status, "another key's")
	require.Equal(t, http.StatusNotFound, set(b.Key(t, b.Tenant(t), "*"), "runs").status, "another tenant's")
	require.Equal(t, http.StatusUnprocessableEntity, set(b.key, slices.Repeat([]string{"runs"}, 33)...).status)
}

// A client that comes back gets what it missed, once.
func TestTopicsResume(t *testing.T) {
	t.Parallel()

	b := setup(t)
	one, two := b.record(t), b.record(t)
	list := topics("run:"+one.ID+"@0", "run:"+two.ID+"@0")
	s := b.stream(t, list, nil)
	s.until(v1.EventRunEvent, "run:"+one.ID)
	last := ""
	for range 20 {
		b.say(t, one, 1, 1, "x")
		b.say(t, two, 1, 1, "y")
	}
	for e := (topical{}); e.Cursor != "9"; {
		var f frame
		f, e = s.until(v1.EventRunEvent, "run:"+one.ID)
		last = f.id
	}
	s.close()
	got := map[string][]string{}
	again := b.stream(t, list, from(last))
	b.say(t, two, 1, 1, "z") // All that came before may have been sent already.
	for len(got["run:"+one.ID]) < 12 || !slices.Contains(got["run:"+two.ID], "22") {
		_, e := again.until(v1.EventRunEvent, "")
		got[e.Topic] = append(got[e.Topic], e.Cursor)
	}
	require.Equal(t, []string{"10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21"}, got["run:"+one.ID])
	var all []string
	for i := range 23 {
		all = append(all, number(int64(i)))
	}
	missed := got["run:"+two.ID]
	require.Equal(t, all[23-len(missed):], missed, "none is left out and none comes twice")
}

// Where too much was missed, or the cursor is of another database, the client reads again.
func TestTopicsThatAreTooOld(t *testing.T) {
	t.Parallel()

	b := setup(t)
	run := b.record(t)
	_, err := b.Conn(t).Exec(t.Context(), "update runs set last_seq = 6000 where id = $1", run.ID)
	require.NoError(t, err)
	for _, cursor := range []string{"0", "7000"} {
		_, e := b.stream(t, topics("run:"+run.ID+"@"+cursor), nil).until(v1.EventResync, "run:"+run.ID)
		require.Equal(t, "6000", e.Cursor)
	}
	_, e := b.stream(t, topics("runs@70000"), nil).until(v1.EventResync, "runs")
	require.NotEqual(t, "70000", e.Cursor)
}

// Each topic takes its permission, and what is of another tenant looks like what is not there.
func TestTopicsThatAreRefused(t *testing.T) {
	t.Parallel()

	b := setup(t)
	run, hidden := b.record(t), seedSpace(t, b)
	refused := func(key, topic string) topical {
		_, e := b.stream(t, topics(topic), nil, key).until(v1.EventClosed, "")
		return e
	}
	decider := b.Key(t, b.tenant, api.ApprovalsRead)
	for _, topic := range []string{"runs", "run:" + run.ID, "waiting", "space:" + hidden.ID} {
		require.Equal(t, tool.Denied, refused(decider, topic).Code, topic)
	}
	b.stream(t, topics("approvals"), nil, decider).until(v1.EventSubscribed, "approvals")

	stranger := b.Key(t, b.Tenant(t), "*")
	absent := run.ID[:len(run.ID)-3] + "fff"
	for theirs, none := range map[string]string{
		"run:" + run.ID: "run:" + absent, "space:" + hidden.ID: "space:" + absent, "space:" + hidden.Slug: "space:none",
	} {
		one, other := refused(stranger, theirs), refused(stranger, none)
		require.Equal(t, tool.NotFound, one.Code, theirs)
		require.Equal(t, other.Detail, strings.ReplaceAll(one.Detail, hidden.Slug, "none"), theirs)
	}
	other := b.Key(t, b.tenant, api.SpacesRead)
	require.Equal(t, tool.NotFound, refused(other, "space:"+hidden.ID).Code, "it is no member")
	require.Equal(t, tool.Invalid, refused(b.key, "run:"+run.ID+"@x").Code)
}

// A stream of topics ends when its key is revoked, and when its browser signs out.
func TestTopicsEndWithTheirAuthority(t *testing.T) {
	t.Parallel()

	b := setup(t, browsers, func(c *api.Config) { c.Streams.Heartbeat = time.Hour })
	key := b.Key(t, b.tenant, api.RunsRead)
	s := b.stream(t, topics("runs"), nil, key)
	s.until(v1.EventSubscribed, "runs")
	var me v1.Me
	b.do(t, http.MethodGet, "/v1/me", "", key).into(t, &me)
	id := strings.TrimPrefix(me.Subject, "key:")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/keys/"+id+"/revoke", "").status)
	require.Empty(t, s.rest(), "nothing follows")

	w := &browser{bundle: b}
	slug := w.signIn(t, b.key)
	s = b.stream(t, topics("runs"), http.Header{"Cookie": {w.cookie}, api.TenantHeader: {slug}})
	s.until(v1.EventSubscribed, "runs")
	require.Equal(t, http.StatusNoContent, w.ask(t, http.MethodDelete, "/v1/session", "", "").status)
	require.Empty(t, s.rest(), "nothing follows")
}

// A stream that was opened before the tenant masked ends when it does: what follows is masked.
func TestStreamsEndWhenMaskingChanges(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.Streams.Heartbeat = 50 * time.Millisecond })
	run := b.record(t)
	masking := func(on string) {
		t.Helper()
		got := b.do(t, http.MethodPut, "/v1/tenants/"+string(b.tenant)+"/masking", `{"mask_sensitive":`+on+`}`)
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	}
	masking("false")
	topical := b.stream(t, topics("run:"+run.ID), nil)
	topical.until(v1.EventSubscribed, "run:"+run.ID)
	events := b.stream(t, "/v1/runs/"+run.ID+"/events", nil)
	masking("true")
	for _, s := range []*stream{topical, events} {
		last := frame{}
		for f, ok := s.next(); ok; f, ok = s.next() {
			last = f
		}
		require.Contains(t, last.comment, "masks has changed")
	}
}

// A tenant follows so many topics at a server, whatever the number of its streams; those that end make room.
func TestTopicsOfATenantAreBounded(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *api.Config) { c.Streams.TopicsPerTenant = 2 })
	first := b.stream(t, topics("runs"), nil)
	_, hello := first.until(v1.EventHello, "")
	first.until(v1.EventSubscribed, "runs")
	second := b.stream(t, topics("runs", "approvals"), nil)
	second.until(v1.EventSubscribed, "runs")
	_, e := b.stream(t, topics("waiting"), nil).until(v1.EventClosed, "waiting")
	require.Equal(t, tool.RateLimited, e.Code)
	at := "/v1/stream/" + hello.Connection + "/topics"
	var state v1.LiveState
	b.do(t, http.MethodPost, at, `{"topics":["runs","waiting"]}`).into(t, &state)
	require.Equal(t, "waiting", state.Refused[0].Topic)
	require.Equal(t, tool.RateLimited, state.Refused[0].Code)
	require.Len(t, state.Topics, 1)
	stranger := b.stream(t, topics("runs"), nil, b.Key(t, b.Tenant(t), "*"))
	stranger.until(v1.EventSubscribed, "runs")

	second.close()
	require.Eventually(t, func() bool {
		b.do(t, http.MethodPost, at, `{"topics":["runs","waiting"]}`).into(t, &state)
		return len(state.Topics) == 2
	}, 30*time.Second, 10*time.Millisecond)
}

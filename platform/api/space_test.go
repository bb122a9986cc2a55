package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

const spacesPath = "/v1/spaces"

// seedSpace makes a space of the bundle's tenant.
func seedSpace(t *testing.T, b *bundle) space.Space {
	t.Helper()
	made, err := b.Store.CreateSpace(t.Context(), space.Space{
		Tenant: b.tenant, Slug: "theirs", Name: "theirs", MaxHops: 4,
	})
	require.NoError(t, err)
	return made
}

// seedAgentInSpaces makes an agent without a version, which nothing wakes.
func seedAgentInSpaces(t *testing.T, b *bundle, slug string) agent.Agent {
	t.Helper()
	made, err := b.Store.CreateAgent(t.Context(), agent.Agent{
		Tenant: b.tenant, Slug: slug, Status: tool.Draft, Version: "1.0.0",
		Definition: agent.Definition{Name: slug, Model: "scripted/x", Spaces: []string{agent.AllSpaces}},
	})
	require.NoError(t, err)
	return made
}

func TestSpaces(t *testing.T) {
	t.Parallel()

	b := setup(t)
	seedAgentInSpaces(t, b, "desk")
	owner, subject := b.principal(t, "spaces.read", "spaces.post", "spaces.write")
	first := b.do(t, http.MethodPost, spacesPath, `{"slug":"launch","name":"Launch","members":["agent:desk"]}`, owner)
	made := as[v1.Space](t, first, http.StatusCreated)
	require.Equal(t, 4, made.MaxHops)
	require.Equal(t, subject, made.CreatedBy)
	path := spacesPath + "/launch"
	require.Equal(t, spacesPath+"/"+made.ID, first.header.Get("Location"))
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, spacesPath, `{"slug":"launch"}`, owner).status)
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, spacesPath, `{"slug":"a b"}`, owner).status)
	require.Equal(t, http.StatusNotFound,
		b.do(t, http.MethodPost, spacesPath, `{"slug":"x","members":["agent:none"]}`, owner).status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, spacesPath+"/x", "", owner).status, "nothing was made")

	tag := map[string]string{"If-Match": b.do(t, http.MethodGet, path, "", owner).header.Get("Etag")}
	changed := as[v1.Space](t, b.send(t, http.MethodPut, path, `{"max_hops":0}`, tag, owner), http.StatusOK)
	require.Zero(t, changed.MaxHops)
	require.Equal(t, "Launch", changed.Name)
	require.Equal(t, http.StatusPreconditionFailed, b.send(t, http.MethodPut, path, `{"max_hops":1}`, tag, owner).status)
	require.Equal(t, http.StatusPreconditionFailed, b.send(t, http.MethodDelete, path, "", tag, owner).status)

	members := as[v1.Page[v1.SpaceMember]](t, b.do(t, http.MethodGet, path+"/members", "", owner), http.StatusOK)
	require.Len(t, members.Items, 2)
	require.Equal(t, "agent:desk", members.Items[0].Member)
	require.Equal(t, http.StatusUnprocessableEntity,
		b.do(t, http.MethodPost, path+"/members", `{"member":"robot:x"}`, owner).status)

	archived := as[v1.Space](t, b.do(t, http.MethodPut, path, `{"archived":true}`, owner), http.StatusOK)
	require.NotNil(t, archived.ArchivedAt)
	require.Equal(t, http.StatusConflict, b.do(t, http.MethodPost, path+"/messages", `{"text":"x"}`, owner).status)
	require.Empty(t, as[v1.Page[v1.Space]](t, b.do(t, http.MethodGet, spacesPath, "", owner), http.StatusOK).Items)
	all := as[v1.Page[v1.Space]](t, b.do(t, http.MethodGet, spacesPath+"?archived=true", "", owner), http.StatusOK)
	require.Len(t, all.Items, 1)
	as[v1.Space](t, b.do(t, http.MethodDelete, path, "", owner), http.StatusOK)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, path, "", owner).status)
}

// A space is made with all of its members, or not at all.
func TestASpaceIsMadeWhole(t *testing.T) {
	t.Parallel()

	b := setup(t)
	owner, _ := b.principal(t, "spaces.read", "spaces.write") // Who makes a space is a member too.
	launch := func(members ...string) string {
		raw, err := json.Marshal(v1.NewSpace{Slug: "launch", Members: members})
		require.NoError(t, err)
		return string(raw)
	}
	others := make([]string, space.MaxMembers)
	for i := range others {
		others[i] = fmt.Sprintf("person:user:%d", i)
	}
	p := b.do(t, http.MethodPost, spacesPath, launch(others...), owner).problem(t)
	require.Equal(t, tool.Invalid, p.Code, p.Detail)
	require.Equal(t, "/members", p.Path)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, spacesPath+"/launch", "", owner).status)
	as[v1.Space](t, b.do(t, http.MethodPost, spacesPath, launch(others[1:]...), owner), http.StatusCreated)
	listed := b.do(t, http.MethodGet, spacesPath+"/launch/members", "", owner)
	require.Len(t, as[v1.Page[v1.SpaceMember]](t, listed, http.StatusOK).Items, space.MaxMembers)
}

// A space is for its members and those who manage spaces; to others it does not exist, and only a
// member says something in it.
func TestWhoSeesASpace(t *testing.T) {
	t.Parallel()

	b := setup(t)
	owner, _ := b.principal(t, "spaces.read", "spaces.write")
	member, subject := b.principal(t, "spaces.read", "spaces.post")
	other, _ := b.principal(t, "spaces.read", "spaces.post")
	manager, _ := b.principal(t, "spaces.read", "spaces.write", "spaces.post")
	as[v1.Space](t, b.do(t, http.MethodPost, spacesPath, `{"slug":"launch","members":["person:`+subject+`"]}`, owner),
		http.StatusCreated)
	path := spacesPath + "/launch"
	for _, read := range []string{path, path + "/members", path + "/messages", path + "/events"} {
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, read, "", member).status, read)
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, read, "", manager).status, read)
		require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, read, "", other).status, read)
	}
	for key, want := range map[string]int{
		member: http.StatusCreated, manager: http.StatusForbidden, other: http.StatusNotFound,
	} {
		require.Equal(t, want, b.do(t, http.MethodPost, path+"/messages", `{"text":"x"}`, key).status)
	}
	require.Len(t, as[v1.Page[v1.Space]](t, b.do(t, http.MethodGet, spacesPath, "", member), http.StatusOK).Items, 1)
	require.Empty(t, as[v1.Page[v1.Space]](t, b.do(t, http.MethodGet, spacesPath, "", other), http.StatusOK).Items)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPut, path, `{"name":"x"}`, member).status)

	removed := as[v1.SpaceMember](t, b.do(t, http.MethodDelete, path+"/members/person:"+subject, "", owner), http.StatusOK)
	require.Equal(t, subject, removed.Name)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, path, "", member).status)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodDelete, path+"/members/person:"+subject, "", owner).status)
}

// Messages are paged newest first, posted once by an idempotency key, bounded, and shown without
// secrets.
func TestSpaceMessages(t *testing.T) {
	t.Parallel()

	b := setup(t)
	owner, subject := b.principal(t, "spaces.read", "spaces.post", "spaces.write")
	as[v1.Space](t, b.do(t, http.MethodPost, spacesPath, `{"slug":"launch"}`, owner), http.StatusCreated)
	path := spacesPath + "/launch/messages"
	key := map[string]string{"Idempotency-Key": "one"}
	posted := as[v1.SpacePosted](t, b.send(t, http.MethodPost, path, `{"text":"one"}`, key, owner), http.StatusCreated)
	require.Equal(t, "person:"+subject, posted.From)
	require.Equal(t, space.Text, posted.Kind)
	again := as[v1.SpacePosted](t, b.send(t, http.MethodPost, path, `{"text":"one"}`, key, owner), http.StatusCreated)
	require.Equal(t, posted.ID, again.ID)
	for _, text := range []string{"two", "the key is ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"} {
		as[v1.SpacePosted](t, b.do(t, http.MethodPost, path, `{"text":"`+text+`"}`, owner), http.StatusCreated)
	}
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, path, `{"text":""}`, owner).status)
	long := `{"text":"` + strings.Repeat("ü", space.MaxText) + `"}`
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodPost, path, long, owner).status)

	page := as[v1.Page[v1.SpaceMessage]](t, b.do(t, http.MethodGet, path+"?limit=2", "", owner), http.StatusOK)
	require.Len(t, page.Items, 2)
	require.NotContains(t, page.Items[0].Text, "abcdefghijklmnop")
	rest := as[v1.Page[v1.SpaceMessage]](t, b.do(t, http.MethodGet, path+"?limit=2&cursor="+page.Next, "", owner),
		http.StatusOK)
	require.Len(t, rest.Items, 1)
	require.Equal(t, "one", rest.Items[0].Text)
	require.Empty(t, rest.Next)
	one := as[v1.SpaceMessage](t, b.do(t, http.MethodGet, path+"/"+posted.ID, "", owner), http.StatusOK)
	require.Equal(t, posted.SpaceMessage, one)
	none := as[v1.Page[v1.SpaceMessage]](t, b.do(t, http.MethodGet, path+"?kind=tool", "", owner), http.StatusOK)
	require.Empty(t, none.Items)
}

// A stream has the messages after a number, as they come, and goes on where a client left.
func TestSpaceStream(t *testing.T) {
	t.Parallel()

	b := setup(t)
	owner, _ := b.principal(t, "spaces.read", "spaces.post", "spaces.write")
	as[v1.Space](t, b.do(t, http.MethodPost, spacesPath, `{"slug":"launch"}`, owner), http.StatusCreated)
	path := spacesPath + "/launch"
	post := func(text string) {
		as[v1.SpacePosted](t, b.do(t, http.MethodPost, path+"/messages", `{"text":"`+text+`"}`, owner), http.StatusCreated)
	}
	post("one")
	post("two")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+path+"/events", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+owner)
	req.Header.Set("Accept", v1.StreamType)
	req.Header.Set("Last-Event-ID", "1")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	require.Equal(t, http.StatusOK, resp.StatusCode)
	lines := bufio.NewScanner(resp.Body)
	next := func() (m v1.SpaceMessage) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				require.NoError(t, json.Unmarshal([]byte(data), &m))
				return m
			}
		}
		t.Fatal("the stream ended")
		return m
	}
	require.Equal(t, "two", next().Text)
	began := time.Now()
	post("three")
	got := next()
	require.Equal(t, "three", got.Text)
	require.Equal(t, int64(3), got.ChangedSeq)
	require.Less(t, time.Since(began), 5*time.Second)
	events := as[v1.Page[v1.SpaceMessage]](t, b.do(t, http.MethodGet, path+"/events?after=2", "", owner), http.StatusOK)
	require.Len(t, events.Items, 1)
}

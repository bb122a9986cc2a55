package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// things are what can be edited: made by one endpoint, and found at a path.
var things = []struct{ path, made, edited string }{
	{"/v1/tools", draft("say"), `{"implementation_type":"internal","description":"Says."}`},
	{
		"/v1/agents", `{"slug":"say","instructions":"Help.","model":"scripted/x"}`,
		`{"instructions":"Help more.","model":"scripted/x"}`,
	},
}

// A change under If-Match is made to what the caller knows, or not at all.
func TestChangesUnderIfMatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, thing := range things {
		made := b.do(t, http.MethodPost, thing.path, thing.made)
		require.Equal(t, http.StatusCreated, made.status, string(made.body))
		at := made.header.Get("Location")
		require.Equal(t, thing.path+"/say", at)
		first := made.header.Get("ETag")
		require.Equal(t, first, b.do(t, http.MethodGet, at, "").header.Get("ETag"))

		edit := func(match string) answer {
			return b.send(t, http.MethodPut, at, thing.edited, map[string]string{"If-Match": match})
		}
		second := edit(`"other", ` + first)
		require.Equal(t, http.StatusOK, second.status, string(second.body))
		require.NotEqual(t, first, second.header.Get("ETag"))
		for _, stale := range []string{first, `"other"`, "W/" + second.header.Get("ETag")} {
			got := edit(stale)
			require.Equal(t, http.StatusPreconditionFailed, got.status, stale)
			require.Equal(t, v1.ProblemsPath+"/"+v1.PreconditionFailed, got.problem(t).Type)
		}
		for _, action := range []string{"/publish", "/version?new_version=2.0.0", "/disable", "/enable"} {
			got := b.send(t, http.MethodPost, at+action, "", map[string]string{"If-Match": first})
			require.Equal(t, http.StatusPreconditionFailed, got.status, action)
		}
		require.Equal(t, http.StatusOK, edit("*").status)
		require.Equal(t, http.StatusOK, b.do(t, http.MethodPut, at, thing.edited).status,
			"without a condition it is made to what is there")
		published := b.do(t, http.MethodPost, at+"/publish", "")
		require.Equal(t, http.StatusOK, published.status, string(published.body))
		require.Equal(t, published.header.Get("ETag"), b.do(t, http.MethodGet, at, "").header.Get("ETag"))
	}
}

// Of many concurrent changes of the same state, one succeeds.
func TestOneChangesAState(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, thing := range things {
		made := b.do(t, http.MethodPost, thing.path, thing.made)
		match := map[string]string{"If-Match": made.header.Get("ETag")}
		statuses := make([]int, 20)
		var wg sync.WaitGroup
		for i := range statuses {
			wg.Go(func() {
				statuses[i] = b.send(t, http.MethodPut, thing.path+"/say", thing.edited, match).status
			})
		}
		wg.Wait()
		done := 0
		for _, status := range statuses {
			if status == http.StatusOK {
				done++
				continue
			}
			require.Equal(t, http.StatusPreconditionFailed, status)
		}
		require.Equal(t, 1, done, thing.path)
	}
}

// A read of what the caller has already is answered without a body.
func TestReadsUnderIfNoneMatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var doc struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	b.do(t, http.MethodGet, "/openapi.json", "", "").into(t, &doc)
	for _, thing := range things {
		described := doc.Paths[thing.path+"/{"+strings.TrimSuffix(strings.TrimPrefix(thing.path, "/v1/"), "s")+"}"]["get"]
		require.Contains(t, described.Responses, "304")
		tag := b.do(t, http.MethodPost, thing.path, thing.made).header.Get("ETag")
		read := func(method, tag string) answer {
			return b.send(t, method, thing.path+"/say", "", map[string]string{"If-None-Match": tag})
		}
		for _, has := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			got := read(http.MethodGet, has)
			require.Equal(t, http.StatusNotModified, got.status, has)
			require.Empty(t, got.body)
			require.Equal(t, tag, got.header.Get("ETag"))
		}
		require.Equal(t, http.StatusOK, read(http.MethodGet, `"other"`).status)
		head := read(http.MethodHead, `"other"`)
		require.Equal(t, http.StatusOK, head.status)
		require.Empty(t, head.body)
		require.Equal(t, tag, head.header.Get("ETag"))
	}
}

// A slug that comes to mean another tool has another tag, at whatever revision.
func TestTagsTellThingsApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := b.do(t, http.MethodPost, "/v1/tools", draft("one")).header.Get("ETag")
	two := b.do(t, http.MethodPost, "/v1/tools", draft("two")).header.Get("ETag")
	require.NotEqual(t, one, two)
}

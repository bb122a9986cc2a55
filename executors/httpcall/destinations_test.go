package httpcall_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// twoPlaces publishes at a blog, or at a desk that takes another body with another credential.
const twoPlaces = `{"method": "POST", "headers": {"X-Source": "crib"}, "destinations": {"from": "/to/place", "of": {
	"blog": {"url": "$URL/blog/posts", "auth": {"type": "basic", "credentials_ref": "login"},
		"body": {"title": {"from": "/title"}, "status": {"from": "/mode"}}, "result": {"id": {"from": "/id"}}},
	"desk": {"url": "$URL/hooks/{title}", "method": "PUT", "auth": {"type": "bearer", "credentials_ref": "orders"}}
}}}`

// A call goes to the destination that it names, with that one's address, method, body and
// credential, and what the tool has for all of them.
func TestDestinations(t *testing.T) {
	t.Parallel()

	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id": 7, "at": "` + r.URL.Path + `"}`))
	})
	res, err := b.executor.Execute(t.Context(), b.call(twoPlaces, `{"to": {"place": "blog"}, "title": "News", "mode": "draft"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"id": 7}`, string(res.Structured))
	res, err = b.executor.Execute(t.Context(), b.call(twoPlaces, `{"to": {"place": "desk"}, "title": "News", "mode": "draft"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"id": 7, "at": "/hooks/News"}`, string(res.Structured))

	seen := b.requests()
	require.Len(t, seen, 2)
	require.Equal(t, "POST /blog/posts", seen[0].Method+" "+seen[0].Target)
	require.JSONEq(t, `{"title": "News", "status": "draft"}`, seen[0].Body)
	user, _, ok := (&http.Request{Header: seen[0].Header}).BasicAuth()
	require.True(t, ok)
	require.Equal(t, "ada", user)
	require.Equal(t, "PUT /hooks/News", seen[1].Method+" "+seen[1].Target)
	require.JSONEq(t, `{"mode": "draft"}`, seen[1].Body, "what nothing else uses, without what names the destination")
	require.Equal(t, "Bearer s3cr3t-orders", seen[1].Header.Get("Authorization"))
	for _, r := range seen {
		require.Equal(t, "crib", r.Header.Get("X-Source"))
	}
}

// What names no destination is refused with the names of those that there are, and nothing is sent.
func TestDestinationsThatAreNotThere(t *testing.T) {
	t.Parallel()

	b := setup(t, func(http.ResponseWriter, *http.Request) {})
	for args, said := range map[string]string{
		`{"to": {"place": "wiki"}}`:   `"wiki" is none of the destinations blog, desk`,
		`{"to": {"place": "BLOG"}}`:   `"BLOG" is none`,
		`{"to": {"place": ["blog"]}}`: `none of the destinations blog, desk`,
		`{"to": {"place": 1}}`:        `"1" is none`,
		`{"to": {"place": null}}`:     `want the name of a destination: blog, desk`,
		`{"to": {"place": ""}}`:       `"" is none`,
		`{}`:                          `want the name of a destination: blog, desk`,
		`{"to": {"place": {"url": "http://127.0.0.1/", "auth": {"credentials_ref": "orders"}}}}`: `is none of the destinations`,
	} {
		_, err := b.executor.Execute(t.Context(), b.call(twoPlaces, args))
		require.Equal(t, tool.Invalid, tool.KindOf(err), args)
		require.Contains(t, tool.AsError(err).Msg, "argument /to/place", args)
		require.Contains(t, tool.AsError(err).Msg, said, args)

		_, err = httpcall.ApprovalTarget(t.Context(), wait.Aim{
			Config: json.RawMessage(twoPlaces), Arguments: httpcall.Aims("", json.RawMessage(twoPlaces), json.RawMessage(args)),
		})
		require.Equal(t, tool.Invalid, tool.KindOf(err), args)
	}
	require.Empty(t, b.requests())
}

// An approval is bound to the host and the credential of the destination that the call names.
func TestApprovalTargetIsTheDestination(t *testing.T) {
	t.Parallel()

	hosts := strings.NewReplacer("$URL/blog", "https://blog.example.com", "$URL", "https://desk.example.com:8443")
	config := json.RawMessage(hosts.Replace(twoPlaces))
	target := func(config json.RawMessage, args string) wait.Target {
		aimed := httpcall.Aims("", config, json.RawMessage(args))
		require.NotContains(t, string(aimed), "title", "no more than what says where")
		out, err := httpcall.ApprovalTarget(context.Background(), wait.Aim{Content: "c", Config: config, Arguments: aimed})
		require.NoError(t, err)
		return out
	}
	require.Equal(t, wait.Target{Content: "c", Host: "blog.example.com", Credential: "login"},
		target(config, `{"title": "x", "to": {"place": "blog", "title": 1}}`))
	require.Equal(t, wait.Target{Content: "c", Host: "desk.example.com:8443", Credential: "orders"},
		target(config, `{"to": {"place": "desk"}}`))
	one := json.RawMessage(`{"url": "https://api.example.com/x", "auth": {"type": "bearer", "credentials_ref": "orders"}}`)
	require.Equal(t, wait.Target{Content: "c", Host: "api.example.com", Credential: "orders"}, target(one, `{"to": 1}`))
	require.Equal(t, []string{"login", "orders"}, wait.Credentials(config))
}

// Every destination is checked when the tool is stored; a fault stands where the member does.
func TestDestinationsAreChecked(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ name, config, path string }{
		{"unknown member", `"of": {"a": {"url": "https://x.example", "reads": true}}`, "/destinations/of/a/reads"},
		{"nested", `"of": {"a": {"url": "https://x.example", "destinations": {}}}`, "/destinations/of/a/destinations"},
		{"none", `"of": {}`, "/destinations/of"},
		{"absent", ``, "/destinations/of"},
		{"no object", `"of": {"a": 1}`, "/destinations/of/a"},
		{"null", `"of": {"a": null}`, "/destinations/of/a"},
		{"name", `"of": {"a/b": {}}`, "/destinations/of/a~1b"},
		{"name of a secret", `"of": {"password": {"url": "https://x.example"}}`, "/destinations/of/password"},
		{"no url", `"of": {"a": {"url": "https://x.example"}, "b": {"body": null}}`, "/destinations/of/b/url"},
		{"second url", `"of": {"a": {"url": "https://x.example"}, "b": {"url": "https://{host}/"}}`, "/destinations/of/b/url"},
		{"secret", `"of": {"a": {"url": "https://x.example", "headers": {"X-Api-Key": "k"}}}`, "/destinations/of/a/headers/X-Api-Key"},
		{"auth", `"of": {"a": {"url": "https://x.example", "auth": {"type": "bearer"}}}`, "/destinations/of/a/auth/credentials_ref"},
		{
			"auth from a caller",
			`"of": {"a": {"url": "https://x.example", "auth": {"type": "bearer", "credentials_ref": {"from": "/k"}}}}`,
			"/destinations/of/a/auth/credentials_ref",
		},
	} {
		config := `{"method": "POST", "destinations": {"from": "/to"`
		if c.config != "" {
			config += ", " + c.config
		}
		err := httpcall.CheckConfig(json.RawMessage(config + `}}`))
		require.Equal(t, tool.Invalid, tool.KindOf(err), c.name)
		require.Equal(t, c.path, tool.AsError(err).Path, c.name)
	}
	for config, path := range map[string]string{
		`{"destinations": {"from": "", "of": {"a": {"url": "https://x.example"}}}}`:                                       "/destinations/from",
		`{"destinations": {"of": {"a": {"url": "https://x.example"}}}}`:                                                   "/destinations/from",
		`{"url": "https://y.example", "destinations": {"from": "/to", "of": {"a": {"url": "https://x.example"}}}}`:        "/url",
		`{"headers": {"Authorization": "x"}, "destinations": {"from": "/to", "of": {"a": {"url": "https://x.example"}}}}`: "/headers/Authorization",
		`{"destinations": {"from": "/to", "of": {"a": {"url": "https://x.example"}}, "default": "a"}}`:                    "/destinations/default",
	} {
		err := httpcall.CheckConfig(json.RawMessage(config))
		require.Equal(t, tool.Invalid, tool.KindOf(err), config)
		require.Equal(t, path, tool.AsError(err).Path, config)
	}
}

// A tool needs the class of the destination that needs most.
func TestDestinationsNeed(t *testing.T) {
	t.Parallel()

	of := func(methods string) json.RawMessage {
		return json.RawMessage(`{"destinations": {"from": "/to", "of": {"a": {"url": "https://x.example"}, "b": {"url": "https://y.example"` +
			methods + `}}}}`)
	}
	class, method := httpcall.Needs(of(""))
	require.Equal(t, tool.EgressReadOnly, class)
	require.Equal(t, "GET", method)
	class, method = httpcall.Needs(of(`, "method": "PUT"`))
	require.Equal(t, tool.EgressWrite, class)
	require.Equal(t, "PUT", method)
}

// Authors are warned where the input schema and the destinations differ.
func TestDestinationsAreCompared(t *testing.T) {
	t.Parallel()

	advise := func(place string) string {
		return strings.Join(httpcall.Advise(json.RawMessage(twoPlaces), json.RawMessage(`{"properties": {"title": {}, "to": {
			"properties": {"place": `+place+`}}}}`)), "\n")
	}
	config := strings.ReplaceAll(twoPlaces, "$URL", "https://x.example")
	require.NoError(t, httpcall.CheckConfig(json.RawMessage(config)))
	require.Empty(t, advise(`{"enum": ["desk", "blog"]}`))
	require.Contains(t, advise(`{"type": "string"}`), "give /to/place an enum of blog, desk")
	require.Contains(t, advise(`{"enum": ["blog"]}`), `the destination "desk" is not in the enum`)
	require.Contains(t, advise(`{"enum": ["blog", "desk", "wiki"]}`), `lists "wiki"`)
}

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/examples/publishing/press"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// publishing is a platform with the definitions of examples/publishing, and the places to which they
// publish.
type publishing struct {
	*secretSite
	office         *office
	press          *press.Press
	blog, newsroom string // Hosts, with their ports.
	planted        []string
}

// newPublishing makes one whose worker may also reach other hosts than those of the places.
func newPublishing(t *testing.T, model agent.Model, others ...string) *publishing {
	t.Helper()
	p := &publishing{secretSite: &secretSite{site: newSite(t), said: map[string]*recording{}}}
	p.office = &office{site: p.site}
	p.office.approver = p.office.key("approver", wait.DecidePermission)
	p.key = p.db.Key(t, p.principal.Tenant, "*")
	keys, err := vault.ParseKeys(vault.GenerateKey())
	require.NoError(t, err)
	handler, err := serve.Handler(t.Context(), serve.HandlerConfig{
		Store: p.Store, Temporal: p.temporal, TaskQueue: p.queue, Keys: keys,
	})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p.url = server.URL

	password, token := "planted app "+newID(t)[24:], "planted-hook-"+newID(t)[24:]
	p.planted = []string{password, token}
	p.press, err = press.New(press.Config{BlogUser: "ada", BlogPassword: password, NewsroomToken: token}, nil)
	require.NoError(t, err)
	places := map[string]http.Handler{"blog-login": p.press.Blog(), "newsroom-hook": p.press.Newsroom()}
	hosts := map[string]string{}
	for ref, handler := range places {
		place := httptest.NewServer(handler)
		t.Cleanup(place.Close)
		hosts[ref] = strings.TrimPrefix(place.URL, "http://")
	}
	p.blog, p.newsroom = hosts["blog-login"], hosts["newsroom-hook"]
	for ref, value := range map[string]string{"blog-login": "ada:" + password, "newsroom-hook": token} {
		body, err := json.Marshal(map[string]any{"ref": ref, "value": value, "hosts": []string{hosts[ref]}})
		require.NoError(t, err)
		status, raw := p.ask("answers", http.MethodPost, "/v1/credentials", string(body))
		require.Equal(t, http.StatusCreated, status, string(raw))
	}
	for _, name := range []string{"publishContent", "publishEverywhere"} {
		p.apply(filepath.Join("..", "..", "examples", "publishing", "tools", name+".yaml"))
	}
	p.start(worker.Config{
		Allow:         map[tool.TenantID]worker.Allowance{"": {Hosts: append(others, p.blog, p.newsroom)}},
		KeyEncryption: keys.Keys(), Models: map[string]agent.Model{"test": model},
	})
	return p
}

// apply applies a definition, with the places where they are for this test.
func (p *publishing) apply(file string) {
	p.t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(p.t, err)
	raw, err := yaml.YAMLToJSON([]byte(strings.NewReplacer(press.BlogAddress, p.blog, press.NewsroomAddress, p.newsroom).
		Replace(string(text))))
	require.NoError(p.t, err)
	status, answer := p.ask("answers", http.MethodPost, "/v1/apply", `{"definitions":[`+string(raw)+`]}`)
	require.Equal(p.t, http.StatusOK, status, string(answer))
}

// begin starts a call of a tool, without an agent.
func (p *publishing) begin(name, args string) (client.WorkflowRun, string) {
	p.t.Helper()
	id := newID(p.t)
	w, err := p.temporal.ExecuteWorkflow(p.t.Context(), client.StartWorkflowOptions{
		ID: wire.RunWorkflowID(p.principal.Tenant, id), TaskQueue: p.queue,
	}, wire.ToolCallWorkflow, wire.NewToolCall(p.principal, id,
		wire.Node{ID: "call", Tool: refs(p.t, name)[0], Arguments: json.RawMessage(args), Mode: tool.Production}))
	require.NoError(p.t, err)
	return w, id
}

// approve approves the one call that waits, after a look at what is asked.
func (p *publishing) approve(host, credential, message string) {
	p.t.Helper()
	asked := p.office.waiting(1)[0]
	require.Equal(p.t, host, asked.Host)
	require.Equal(p.t, credential, asked.Credential)
	require.Equal(p.t, message, asked.Message)
	require.Contains(p.t, strings.Join(asked.Reasons, "; "), "egress class write")
	p.ask("approvals", http.MethodGet, "/v1/approvals/"+asked.ID, "")
	require.NoError(p.t, p.office.tell(p.office.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
}

// content is the arguments of an article.
func content(destination, mode string) string {
	return fmt.Sprintf(
		`{"destination":%q,"mode":%q,"title":"New teapots","body":"# Teapots\n\nThey are **blue**."}`, destination, mode,
	)
}

// An agent, a graph and a direct call publish by the same tool, and what arrives is the same: as a draft or for
// real, at a WordPress or a webhook, each with its own credential, and each only once a person has approved it,
// who sees where it goes. No secret is in what comes of it.
func TestPublishingIsAlikeForEveryCaller(t *testing.T) {
	t.Parallel()

	p := newPublishing(t, play(
		[]agent.Call{call("c1", "publishContent", json.RawMessage(content("blog", "draft")))},
		[]agent.Call{call("c2", "publishContent", json.RawMessage(content("newsroom", "publish")))},
		[]agent.Call{call("c3", "publishContent", json.RawMessage(content("wiki", "draft")))},
	))
	const draft, final = `Save a draft of "New teapots" at the destination `, `Publish "New teapots" at the destination `
	desk := p.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "publishContent")})
	run, w := p.run(desk, "Write about the teapots.")
	p.approve(p.blog, "blog-login", draft+"blog?")
	p.approve(p.newsroom, "newsroom-hook", final+"newsroom?")
	_, err := p.wait(w)
	require.NoError(t, err)
	calls := p.invocations(run.ID)
	require.Len(t, calls, 3)
	require.Equal(t, tool.Invalid, calls[2].ErrorKind)
	for _, said := range []string{"blog", "newsroom"} {
		require.Contains(t, calls[2].Error, said, "what there is is named")
	}

	direct, directID := p.begin("publishContent", content("blog", "draft"))
	p.approve(p.blog, "blog-login", draft+"blog?")
	var answered *tool.Result
	require.NoError(t, direct.Get(t.Context(), &answered))
	require.JSONEq(t, string(calls[0].Output.Structured), strings.ReplaceAll(string(answered.Structured), "?p=3", "?p=1"))
	require.Contains(t, string(answered.Structured), `"mode":"draft"`)

	graph, graphID := p.begin("publishEverywhere", `{"destinations":["newsroom","blog"],"mode":"publish","title":"New teapots",
		"body":"# Teapots\n\nThey are **blue**."}`)
	p.approve(p.newsroom, "newsroom-hook", final+"newsroom?")
	p.approve(p.blog, "blog-login", final+"blog?")
	require.NoError(t, graph.Get(t.Context(), &answered))
	require.False(t, answered.IsError, "%+v", answered)
	require.Contains(t, string(answered.Structured), "http://"+p.blog+"/?p=5")

	article := func(place, status string) press.Article {
		return press.Article{Place: place, Title: "New teapots", Body: "# Teapots\n\nThey are **blue**.", Status: status}
	}
	require.Equal(t, []press.Article{
		article("blog", "draft"), article("newsroom", "publish"), article("blog", "draft"),
		article("newsroom", "publish"), article("blog", "publish"),
	}, p.press.Articles())
	p.requireNoSecret(run.ID, directID, graphID)
}

// A caller chooses among the destinations and nothing else: what is none, and what would say an address or a
// credential, is refused before anybody is asked, and nothing is sent.
func TestCallersChooseNoSecret(t *testing.T) {
	t.Parallel()

	p := newPublishing(t, play())
	for _, args := range []string{content("wiki", "draft"), content("https://evil.example.com", "draft")} {
		status, raw := p.ask("problems", http.MethodPost, "/v1/tools/publishContent/call", `{"arguments":`+args+`}`)
		require.Equal(t, http.StatusUnprocessableEntity, status, string(raw))
		require.Contains(t, string(raw), "/destination")
		require.Contains(t, string(raw), "blog")
		require.Contains(t, string(raw), "newsroom")
	}
	rest := strings.TrimPrefix(content("blog", "draft"), `{"destination":"blog"`)
	for _, args := range []string{
		`{"destination":"blog","credentials_ref":"newsroom-hook"` + rest, `{"destination":"blog","auth":{}` + rest,
		`{"destination":"blog","url":"https://evil.example.com"` + rest,
		`{"destination":{"auth":{"credentials_ref":"newsroom-hook"}}` + rest, `{"destination":["blog","newsroom"]` + rest,
	} {
		status, raw := p.ask("problems", http.MethodPost, "/v1/tools/publishContent/call", `{"arguments":`+args+`}`)
		require.Equal(t, http.StatusUnprocessableEntity, status, "%s: %s", args, raw)
	}
	asked, err := p.ListApprovals(t.Context(), wait.Query{Tenant: p.principal.Tenant, Limit: 10})
	require.NoError(t, err)
	require.Empty(t, asked)
	require.Empty(t, p.press.Articles())

	// A visitor's form offers the names, and takes no more.
	p.ask("answers", http.MethodPost, "/v1/embed-origins", `{"origin":"https://shop.example.com"}`)
	status, raw := p.ask("answers", http.MethodPost, "/v1/embed-tokens",
		`{"tool":"publishContent","origin":"https://shop.example.com","caller":"ada"}`)
	require.Equal(t, http.StatusCreated, status, string(raw))

	// Another destination than what was approved is asked for anew, with its own host.
	w, id := p.begin("publishContent", content("blog", "draft"))
	first := p.office.waiting(1)[0]
	edited := json.RawMessage(content("newsroom", "draft"))
	digest, err := tool.Digest(edited)
	require.NoError(t, err)
	require.NoError(t, p.office.tell(p.office.decide(wait.Verdict{
		ID: first.ID, Approve: true, Seen: first.Binding, Edited: edited, EditedDigest: digest, Binding: first.Bind(digest),
	})))
	require.Eventually(t, func() bool {
		again, err := p.FindApproval(t.Context(), p.principal.Tenant, first.ID)
		return err == nil && again.Round == 2 && again.Host == p.newsroom
	}, time.Minute, 20*time.Millisecond)
	require.Empty(t, p.press.Articles(), "nothing was sent by the approval of the other")
	p.approve(p.newsroom, "newsroom-hook", `Save a draft of "New teapots" at the destination newsroom?`)
	require.NoError(t, w.Get(t.Context(), nil))
	require.Equal(t, "newsroom", p.press.Articles()[0].Place)

	// A credential that is revoked stops its destination, and no other.
	status, raw = p.ask("answers", http.MethodDelete, "/v1/credentials/blog-login", "")
	require.Less(t, status, 300, string(raw))
	w, _ = p.begin("publishContent", content("blog", "draft"))
	p.approve(p.blog, "blog-login", `Save a draft of "New teapots" at the destination blog?`)
	require.ErrorContains(t, w.Get(t.Context(), nil), "blog-login")
	w, _ = p.begin("publishContent", content("newsroom", "publish"))
	p.approve(p.newsroom, "newsroom-hook", `Publish "New teapots" at the destination newsroom?`)
	require.NoError(t, w.Get(t.Context(), nil))
	require.Len(t, p.press.Articles(), 2)
	p.requireNoSecret(id)
}

// requireNoSecret looks for the secrets in all that came of runs.
func (p *publishing) requireNoSecret(runs ...string) {
	p.t.Helper()
	for _, id := range runs {
		for _, of := range []string{"", "/events", "/messages"} {
			p.ask("runs", http.MethodGet, "/v1/runs/"+id+of, "")
		}
		found, err := p.FindRun(p.t.Context(), p.principal.Tenant, id)
		require.NoError(p.t, err)
		for _, e := range historyOf(p.t.Context(), p.t, p.temporal, found.WorkflowID, "").Events {
			p.note("histories", e.String())
		}
	}
	p.ask("invocations", http.MethodGet, "/v1/invocations?limit=200", "")
	p.ask("definitions", http.MethodGet, "/v1/tools/publishContent", "")
	for table, rows := range everyRow(p.t, p.db) {
		p.note("table "+table, rows)
	}
	for surface, said := range p.said {
		text := said.String()
		for _, value := range p.planted {
			for _, form := range secretForms(value) {
				require.False(p.t, strings.Contains(text, form), "%s: …%s…", surface, around(text, form)) //nolint:testifylint // NotContains would print all of it.
			}
		}
	}
}

// A publication that may have happened or not is looked for at the destination that the call named.
func TestUnknownPublishingIsLookedForAtItsDestination(t *testing.T) {
	t.Parallel()

	dead := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(dead.Close)
	host := strings.TrimPrefix(dead.URL, "http://")
	p := newPublishing(t, play(), host)
	d := httpTool(dead.URL, onlyOnce)
	d.Config = json.RawMessage(`{"method":"POST","destinations":{"from":"/q","of":{
		"alive":{"url":"http://` + p.blog + `"},"dead":{"url":"` + dead.URL + `/hooks"}}}}`)
	p.publish("publishOnce", d, tool.Policy{EgressClass: tool.EgressWrite})

	// Its schema lists no names: what is none is refused all the same, before anybody is asked.
	w, id := p.begin("publishOnce", `{"q":"nowhere"}`)
	require.ErrorContains(t, w.Get(t.Context(), nil), `"nowhere" is none of the destinations alive, dead`)
	require.Equal(t, tool.Invalid, p.invocations(id)[0].ErrorKind)
	asks, err := p.ListApprovals(t.Context(), wait.Query{Tenant: p.principal.Tenant, Limit: 10})
	require.NoError(t, err)
	require.Empty(t, asks)

	w, id = p.begin("publishOnce", `{"q":"dead"}`)
	asked := p.office.waiting(1)[0]
	require.NoError(t, p.office.tell(p.office.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	require.Error(t, w.Get(t.Context(), nil))
	done := p.invocations(id)[0]
	require.Equal(t, tool.StatusUnknown, done.Status)
	_, raw := p.ask("invocations", http.MethodGet, "/v1/invocations/"+done.InvocationID, "")
	require.Contains(t, string(raw), `"host":"`+host+`"`)
	require.Contains(t, string(raw), "Check "+host)
}

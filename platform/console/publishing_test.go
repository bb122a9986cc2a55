package console_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	pressroom "github.com/toolcrib/toolcrib/examples/publishing/press"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// places are where the tool of examples/publishing publishes.
type places struct {
	*pressroom.Press
	blog, newsroom string // Hosts.
}

// newPlaces runs for the whole package, as the platform does that may reach them.
func newPlaces() *places {
	p, err := pressroom.New(pressroom.Config{
		BlogUser: "ada", BlogPassword: "planted app pass", NewsroomToken: "planted-hook",
	}, nil)
	if err != nil {
		panic(err)
	}
	host := func(h http.Handler) string { return strings.TrimPrefix(httptest.NewServer(h).URL, "http://") }
	return &places{p, host(p.Blog()), host(p.Newsroom())}
}

// publishContent is the example's tool, with the places where they are.
func publishContent(t *testing.T, p *places) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/publishing/tools/publishContent.yaml")
	require.NoError(t, err)
	hosts := strings.NewReplacer(pressroom.BlogAddress, p.blog, pressroom.NewsroomAddress, p.newsroom)
	raw, err := yaml.YAMLToJSON([]byte(hosts.Replace(string(text))))
	require.NoError(t, err)
	return string(raw)
}

const noSecret = `!document.documentElement.outerHTML.includes("planted") && ![...document.querySelectorAll("input")]
	.some((i) => i.value.includes("planted")) && !JSON.stringify({ ...localStorage, ...sessionStorage }).includes("planted")`

// A person picks a destination, chooses to publish, writes Markdown and submits. It waits for another person, who sees
// where it goes; then it is there. Nothing in the form asks for a credential.
func TestAPersonPublishes(t *testing.T) {
	t.Parallel()

	alone(t)
	v := live(t)
	p := running.places
	for ref, c := range map[string]v1.NewCredential{
		"blog-login":    {Value: "ada:planted app pass", Hosts: []string{p.blog}},
		"newsroom-hook": {Value: "planted-hook", Hosts: []string{p.newsroom}},
	} {
		c.Ref = ref
		raw, err := json.Marshal(c)
		require.NoError(t, err)
		v.change(t, http.MethodPost, "/v1/credentials", string(raw))
	}
	v.apply(t, publishContent(t, p))
	v.size(t, 1280, 900, "light")
	v.open(t, "/tools/publishContent?tab=test&mode=production")
	v.do(t, until(at("/destination")), until(`[...`+at("/destination")+`.options].some((o) => o.innerText === "Company blog")`),
		until(`!document.querySelector(".f-form").innerText.toLowerCase().includes("credential")`))
	v.put(t, "/destination", "0")
	v.put(t, "/mode", "Publish")
	v.put(t, "/title", "New teapots")
	v.put(t, "/body", "# Teapots\n\nThey are **blue**.")
	v.picture(t, "publishing")
	v.do(t, click(`.t-send .primary`), said("The call waits for an approval."))
	require.Empty(t, p.Articles())

	var pending struct {
		Items []v1.Approval `json:"items"`
	}
	raw := v.change(t, http.MethodGet, "/v1/approvals?status=pending&tool=publishContent", "")
	require.NoError(t, json.Unmarshal(raw, &pending))
	require.Len(t, pending.Items, 1)
	asked := pending.Items[0]
	require.Equal(t, p.blog, asked.Host)
	require.Equal(t, "blog-login", asked.Credential)
	other := visit(t, v.site, browser(t))
	other.signInWith(t, running.dev.ApproverKey())
	other.open(t, "/approvals?open="+asked.ID)
	other.do(t, said(`Publish "New teapots" at the destination blog?`), said(p.blog), until(noSecret))
	other.picture(t, "publishing-approval")
	approver := &site{url: v.url, key: running.dev.ApproverKey()}
	approver.change(t, http.MethodPost, "/v1/approvals/"+asked.ID+"/approve", `{}`)
	v.do(t, until(`document.querySelector(".t-output .o-output")?.innerText.includes("http://`+p.blog+`/?p=1")`), until(noSecret))
	require.Equal(t, []pressroom.Article{{
		Place: "blog", Title: "New teapots", Body: "# Teapots\n\nThey are **blue**.", Status: "publish",
	}}, p.Articles())
	v.picture(t, "published")
	v.blameless(t)
}

const config = "#field-implementation_config-"

// A person gives a tool two destinations. The credential of the first is made where it is chosen: nothing that was
// written is lost, and the secret is in no page afterwards. The options of the argument follow the destinations.
func TestADestinationGetsACredentialInItsPlace(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools/new?type=http")
	v.do(t, enter("#field-slug", "announceNews"),
		enter("#field-description", "Announces news at one of our places. Use it when asked to."),
		enter(config+"method", "POST"), enter(config+"url", "https://blog.example.com/wp-json/wp/v2/posts"),
		enter("#field-egress_class", "write"))
	first, second := config+"destinations-of-blog-", config+"destinations-of-newsroom-"
	v.do(t, button("Add a destination"), enter(`[aria-label="Name of the destination"]`, "no name"), button("Add it"),
		said("A name begins with a letter or digit"), enter(`[aria-label="Name of the destination"]`, "blog"), button("Add it"),
		until(`document.querySelector("`+first+`url").value === "https://blog.example.com/wp-json/wp/v2/posts"`),
		until(`!document.querySelector("`+config+`url")`))
	v.do(t, enter(first+"auth-type", "basic"), enter(first+"auth-credentials_ref", "blog-login"),
		button("New credential…"),
		until(`document.querySelector("[role=dialog]")`), put("Value", "ada:planted"), choose("Store"),
		until(`!document.querySelector("[role=dialog]")`), until(noSecret))
	c, err := v.vault.Get(t.Context(), v.Tenant, "blog-login")
	require.NoError(t, err)
	require.Equal(t, []string{"blog.example.com"}, c.Hosts, "that of the address")
	v.do(t, until(`location.pathname.endsWith("/tools/new")`), until(`document.querySelector("#field-slug").value === "announceNews"`),
		until(`document.querySelector("`+first+`auth-credentials_ref").value === "blog-login"`))

	v.do(t, button("Add a destination"), enter(`[aria-label="Name of the destination"]`, "newsroom"), button("Add it"),
		enter(second+"url", "https://desk.example.com/hooks"), enter(second+"auth-type", "bearer"),
		until(`[...document.querySelectorAll("`+second+`auth-credentials_ref-names option")].some((o) => o.value === "blog-login")`),
		enter(second+"auth-credentials_ref", "orders-api"), enter(second+"body", `{"text":{"from":"/text"}}`))
	v.accessible(t, "destinations")
	v.picture(t, "destinations")
	v.do(t, said("It can be saved"), button("Create the draft"), until(`location.pathname.endsWith("/tools/announceNews")`))
	var made v1.Tool
	require.NoError(t, json.Unmarshal(v.change(t, http.MethodGet, "/v1/tools/announceNews", ""), &made))
	require.JSONEq(t, `{"method":"POST","destinations":{"from":"/destination","of":{
		"blog":{"url":"https://blog.example.com/wp-json/wp/v2/posts","auth":{"type":"basic","credentials_ref":"blog-login"}},
		"newsroom":{"url":"https://desk.example.com/hooks","auth":{"type":"bearer","credentials_ref":"orders-api"},
			"body":{"text":{"from":"/text"}}}}}}`, string(made.Config))
	require.Contains(t, string(made.InputSchema), `"enum":["blog","newsroom"]`)
	require.Contains(t, string(made.InputSchema), `"required":["destination"]`)

	// One that goes takes its option along.
	v.open(t, "/tools/announceNews/edit")
	v.do(t, button("Remove blog"), until(`!document.querySelector("`+first+`url")`),
		until(`!document.querySelector("#field-input_schema").value.includes("blog")`))
	v.open(t, "/credentials?open=blog-login")
	v.do(t, shows("announceNews"))
	v.blameless(t)
}

// Whose key may not write credentials is offered none to make.
func TestCredentialsAreMadeByThoseWhoMay(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signInWith(t, v.Key(t, v.Tenant, "tools.read", "tools.write", "credentials.read"))
	v.open(t, "/tools/findOrder/edit")
	v.do(t, until(`document.querySelector("`+config+`auth-credentials_ref").value === "orders-api"`),
		until(`[...document.querySelectorAll("`+config+`auth-credentials_ref-names option")].length > 0`),
		until(`![...document.querySelectorAll("button")].some((b) => b.innerText.includes("New credential"))`))
	v.blameless(t)
}

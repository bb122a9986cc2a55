package console_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/vault"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store/storetest"
)

func (s *site) connectPages() []string {
	return []string{
		"/credentials", "/credentials?open=new", "/credentials?open=orders-api", "/credentials?open=missing",
		"/pipelines", "/pipelines?open=new", "/pipelines/staffHandbook", "/pipelines/staffHandbook?status=failed",
		"/pipelines/staffHandbook?open=" + s.documentOf("annual-leave.txt"),
		"/pipelines/staffHandbook?tab=search", "/pipelines/staffHandbook?tab=search&q=leave",
		"/pipelines/staffHandbook?tab=search&q=zebra", "/pipelines/staffHandbook?tab=settings", "/pipelines/missing",
		"/toolsets", "/toolsets?new=1", "/toolsets/orders-desk", "/toolsets/orders-desk?client=vscode",
		"/toolsets/orders-desk?tab=tools", "/toolsets/orders-desk?tab=keys", "/toolsets/missing",
	}
}

// fillConnect makes credentials, and a pipeline with documents: one is ready, one failed, one is not ingested.
func (s *site) fillConnect(t *testing.T) {
	t.Helper()
	for ref, hosts := range map[string][]string{"orders-api": {"orders.example.com", "*.shop.example.com"}, "unsent": {}} {
		_, err := s.vault.Create(t.Context(), vault.Credential{Tenant: s.Tenant, Ref: ref, Hosts: hosts}, "planted-value")
		require.NoError(t, err)
	}
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{json.RawMessage(`{"kind":"tool","slug":"findOrder",
		"name":"Find an order","description":"Finds an order by its number.","implementation_type":"http","egress_class":"read_only",
		"implementation_config":{"method":"GET","url":"https://orders.example.com/find",
		"auth":{"type":"bearer","credentials_ref":"orders-api"}}}`)}})
	s.askIn(t, http.MethodPost, "/v1/toolsets", v1.ToolsetDefinition{
		Slug: "orders-desk", Name: "Orders", Instructions: "Find the order first.",
		Tools: []v1.ToolsetTool{{Tool: "findOrder"}},
	}, nil)
	s.askIn(t, http.MethodPost, "/v1/embed-origins", v1.NewEmbedOrigin{Origin: "https://shop.example.com"}, nil)
	shelf := storetest.NewShelf(t, s.Store, retrieval.Pipeline{
		Tenant: s.Tenant, Slug: "staffHandbook", Name: "Staff handbook", Description: "What people ask about.",
	})
	shelf.Add(t, retrieval.Document{Key: "annual-leave.txt", Title: "Annual leave", Source: "handbook/annual-leave.txt"},
		"How many days|Staff have 28 days of leave a year.\nAsking|Ask for leave two weeks before.")
	failed := shelf.Put(t, "broken.txt", "what cannot be read")
	_, err := s.Store.FailDocument(t.Context(), failed.Ref(), "the text is not UTF-8")
	require.NoError(t, err)
	shelf.Put(t, "later.txt", "what is read later")
}

func (s *site) documentOf(key string) string {
	shelf, err := s.Store.FindPipeline(context.Background(), s.Tenant, "staffHandbook")
	if err != nil {
		return "missing"
	}
	d, err := s.Store.FindDocument(context.Background(), s.Tenant, shelf.ID, key)
	if err != nil {
		return "missing"
	}
	return d.ID
}

// The value of a credential is given, and replaced, and is in no page afterwards.
func TestACredentialIsStoredAndReplaced(t *testing.T) {
	t.Parallel()

	const unseen = `!document.documentElement.outerHTML.includes("planted-") && ![...document.querySelectorAll("input")]
		.some((i) => i.value.includes("planted-")) && !JSON.stringify({ ...localStorage, ...sessionStorage }).includes("planted-")`
	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/credentials")
	v.look(t, "credentials")
	v.do(t, choose("New credential"), put("Ref", "new-api"), put("Value", "planted-one"), put("Hosts", "not a host/"),
		choose("Store"), until(`document.querySelector("[role=dialog] .error")`)) // Beside the field, and nothing is stored.
	v.do(t, put("Hosts", "api.example.com\nb.example.com"), choose("Store"), until(`!document.querySelector("[role=dialog]")`),
		until(`document.querySelector("aside").innerText.includes("b.example.com")`), until(unseen))
	v.look(t, "credential")
	c, err := v.vault.Get(t.Context(), v.Tenant, "new-api")
	require.NoError(t, err)
	require.Equal(t, []string{"api.example.com", "b.example.com"}, c.Hosts)
	require.Equal(t, 1, c.Version)

	// Other hosts take the value again.
	v.do(t, choose("Replace…"), put("Hosts", "evil.example.com"), choose("Save"),
		until(`document.querySelector("[role=dialog] [role=alert]")`), put("Value", "planted-two"), choose("Save"),
		until(`!document.querySelector("[role=dialog]")`), shows("number 2, not shown"), until(unseen))
	v.do(t, choose("Delete…"), choose("Delete"), until(`!document.querySelector("aside")`),
		until(`!document.querySelector(".rows").innerText.includes("new-api")`))
	_, err = v.vault.Get(t.Context(), v.Tenant, "new-api")
	require.Error(t, err)
	v.blameless(t)
}

// What names a credential is beside it.
func TestUsersOfACredentialAreListed(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/credentials?open=unsent")
	v.do(t, shows("No tool or pipeline names it."))
	v.open(t, "/credentials?open=orders-api")
	v.do(t, until(`[...document.querySelectorAll(".users a")].some((a) => a.innerText === "findOrder")`))
	v.blameless(t)
}

// takesOffer takes the only tool that a picker offers, once it is there: what is offered changes while a person types.
var takesOffer = until(`((all) => all.length === 1 && (all[0].click(), true))(document.querySelectorAll(".offer input"))`)

// A toolset is made, gets a tool with a range and a key that works there alone, shows what clients are configured
// with, and is deleted with its keys.
func TestAToolsetIsMade(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/toolsets?new=1")
	v.do(t, put("Slug", "Not a slug"), choose("Create"), until(`document.querySelector("[role=dialog] [role=alert]")`),
		put("Slug", "support"), put("Name", "Support desk"), choose("Create"),
		until(`location.pathname.endsWith("/toolsets/support")`), settled(),
		typed(`.picker input[type=search]`, "findOrder"), takesOffer,
		until(`document.querySelector(".picked .slug")?.innerText === "findOrder"`))
	v.fillIn(t, `.toolset-form textarea`, "Look before you answer.")
	v.do(t, choose("Save"), until(`document.body.innerText.includes("Saved.")`))
	var made v1.Toolset
	v.askIn(t, http.MethodGet, "/v1/toolsets/support", nil, &made)
	require.Equal(t, "Look before you answer.", made.Instructions)
	require.Len(t, made.Tools, 1)
	require.Equal(t, "findOrder", made.Tools[0].Tool)

	// What changed meanwhile is not written over.
	v.askIn(t, http.MethodPut, "/v1/toolsets/support", v1.ToolsetDefinition{Slug: "support", Name: "Another"}, nil)
	v.do(t, choose("Save"), until(`document.querySelector(".toolset-form > [role=alert]")`))

	v.open(t, "/toolsets/support")
	shows := func(client, has string) {
		v.click(t, ".buckets button", client)
		v.do(t, until(`document.querySelector(".snippet pre").innerText.includes(`+quoted(has)+`)`),
			until(`document.querySelector(".snippet pre").innerText.includes("`+v.url+`/mcp/support")`))
	}
	shows("Claude", "Bearer ${TOOLCRIB_KEY}")
	shows("Cursor", "Bearer ${env:TOOLCRIB_KEY}")
	shows("VS Code", "toolcrib-key")
	v.open(t, "/toolsets/support?tab=keys")
	v.do(t, choose("New key…"), put("Name", "desk of Ana"), choose("Create the key"),
		until(`document.querySelector(".secret code")?.innerText.startsWith("tck_")`), choose("I have kept it"),
		until(`document.querySelector("tbody")?.innerText.includes("desk of Ana")`), until(`!document.body.innerHTML.includes("tck_")`))
	v.do(t, choose("Delete…"), choose("Delete"), until(`location.pathname.endsWith("/toolsets")`), settled(),
		until(`document.querySelector("tbody")?.innerText.includes("orders-desk")`),
		until(`!document.querySelector("tbody").innerText.includes("support")`))
	v.blameless(t)
}

// Sites are allowed to frame tools, and not any more; what is no origin is refused beside its field.
func TestSitesAreAllowedToFrameTools(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/settings")
	v.do(t, until(`document.querySelector(".origins")?.innerText.includes("https://shop.example.com")`), choose("Allow a site…"),
		put("Origin", "https://*.example.com/path"), choose("Allow it"), until(`document.querySelector("[role=dialog] [role=alert]")`),
		put("Origin", "https://new.example.com"), choose("Allow it"), until(`!document.querySelector("[role=dialog]")`),
		until(`document.querySelectorAll(".origins li").length === 2`),
		choose("Remove https://shop.example.com…"), choose("Remove it"),
		until(`document.querySelectorAll(".origins li").length === 1`))
	v.look(t, "settings")
	v.click(t, "a", "Changes are in the audit log")
	v.do(t, until(`location.search === "?action=embed_origin"`), settled(),
		until(`document.querySelectorAll("tbody tr").length === 3`))
	v.blameless(t)
}

// A passage is found with its score, and a document is looked at and deleted.
func TestAPipelineIsSearched(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/pipelines")
	v.look(t, "pipelines")
	v.open(t, "/pipelines/staffHandbook")
	v.do(t, shows("the text is not UTF-8"))
	v.look(t, "documents")
	v.open(t, "/pipelines/staffHandbook?tab=search")
	v.do(t, typed(".ask-shelf input", "days of leave\r"),
		until(`new URL(location).searchParams.get("q") === "days of leave"`),
		until(`document.querySelector(".hits li").innerText.includes("Staff have 28 days of leave a year.")`),
		until(`/score \d+\.\d*[1-9]/.test(document.querySelector(".hit-score").innerText)`))
	v.look(t, "search")
	v.open(t, "/pipelines/staffHandbook?open="+v.documentOf("annual-leave.txt"))
	v.do(t, until(`document.querySelector("aside .text")?.innerText.includes("Ask for leave two weeks before.")`),
		click("aside .button.danger"), choose("Delete"), until(`!document.querySelector("aside")`),
		until(`!document.querySelector(".rows").innerText.includes("annual-leave.txt")`))
	require.Equal(t, "missing", v.documentOf("annual-leave.txt"))
	v.blameless(t)
}

// A pipeline is made, files are added, ingested, and found; what is not a document is refused in its place.
func TestDocumentsAreAdded(t *testing.T) {
	t.Parallel()

	v := live(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"parking.md":  "# Parking\n\nBicycles stand in the yard.",
		"picture.png": "x",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	v.open(t, "/pipelines")
	v.do(t, click("header .primary"), put("Slug", "yardBook"), choose("Create"),
		shows("No document"),
		chromedp.SetUploadFiles(`input[type=file]`, []string{
			filepath.Join(dir, "parking.md"), filepath.Join(dir, "picture.png"),
		}, chromedp.ByQuery),
		shows("Documents are text, Markdown, HTML or PDF."),
		until(`document.querySelector(".rows .status")?.innerText === "ready"`))
	v.open(t, "/pipelines/yardBook?tab=search&q=bicycles")
	v.do(t, until(`document.querySelector(".hits li").innerText.includes("Bicycles stand in the yard.")`))
	v.blameless(t)
}

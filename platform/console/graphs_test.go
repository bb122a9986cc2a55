package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// everyKind is the configuration of a graph with bodies in it, and a number that a JavaScript number would round.
const everyKind = `{"state":{"limit":9007199254740993},"nodes":[
	{"id":"start","kind":"start","title":"Begin"},
	{"id":"look","kind":"tool","tool":"searchOrders@^1.0","arguments":{"customer":{"$from":"/input/customer"}},
		"retry":{"attempts":3},"on_error":"apologize"},
	{"id":"each","kind":"map","over":{"$from":"/nodes/look/result/orders"},"concurrency":5,"tolerate":1,"nodes":[
		{"id":"track","kind":"tool","tool":"trackParcel","arguments":{"order":{"$from":"/item"}}}],
		"output":{"$from":"/nodes/track/text"}},
	{"id":"judge","kind":"branch","cases":[{"when":"size(nodes.each.result) > 3","next":"write"}],"default":"done"},
	{"id":"write","kind":"agent","agent":"supportDesk","message":{"$from":"/nodes/each/text"},
		"when":"state.limit > 1"},
	{"id":"done","kind":"end","output":{"limit":9007199254740993,"what":{"$from":"/nodes/each/text"}}},
	{"id":"apologize","kind":"tool","tool":"summarizeTicket","next":"done"}]}`

func (s *site) fillGraphs(t *testing.T) {
	t.Helper()
	graph := func(version, config string) json.RawMessage {
		return json.RawMessage(`{"kind":"tool","slug":"checkOrders","name":"Check orders","version":"` + version + `","publish":true,
			"description":"Reads orders, and says which are late.","implementation_type":"graph",
			"input_schema":{"type":"object","properties":{"customer":{"type":"string"}}},"implementation_config":` + config + `}`)
	}
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{
		graph("1.0.0", `{"nodes":[{"id":"look","kind":"tool","tool":"searchOrders"},{"id":"done","kind":"end"}]}`),
	}})
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{
		graph("1.1.0", everyKind),
		json.RawMessage(`{"kind":"tool","slug":"lookTwice","name":"Look twice","version":"1.0.0","publish":true,
			"description":"Looks, then counts.","implementation_type":"composition","implementation_config":{"steps":[
			{"id":"look","tool":"lookUp01"},{"id":"again","tool":"lookUp02","on_error":"continue"}]}}`),
		json.RawMessage(`{"kind":"agent","slug":"stockClerk","name":"Stock clerk","model":"scripted/stock-clerk",
			"instructions":"Count, then answer.\nNever guess.","version":"1.0.0","publish":true,"tools":["lookUp01","lookUp02"]}`),
	}})
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{
		json.RawMessage(`{"kind":"agent","slug":"stockClerk","name":"Stock clerk","model":"scripted/stock-clerk",
			"instructions":"Count twice, then answer.\nNever guess.","version":"1.1.0","tools":["lookUp01@^1.0","lookUp03"]}`),
	}})
}

func (s *site) graphPages() []string {
	return []string{
		"/agents/new", "/agents/new?tab=tools", "/agents/stockClerk",
		"/agents/stockClerk?tab=tools&shown=lookUp01&bucket=custom",
		"/agents/stockClerk?tab=tools&search=nothing-is-called-so", "/agents/stockClerk?tab=versions",
		"/agents/stockClerk?tab=runs",
		"/agents/missing", "/agents?search=nothing-is-called-so", "/tools/checkOrders?tab=graph",
		"/tools/checkOrders?tab=graph&show=table&node=each/track", "/tools/checkOrders?tab=graph&from=1.0.0&node=look",
		"/tools/lookTwice?tab=graph", "/graphs/new", "/tools/checkOrders/graph/edit",
		"/tools/checkOrders/graph/edit?node=judge",
		"/tools/checkOrders/graph/edit?node=each&show=table", "/tools/lookTwice/graph/edit?node=again",
		"/tools/refundOrder/graph/edit",
	}
}

// A person makes an agent, picks a tool out of many, and publishes it; what the server refuses is beside its field.
func TestAPersonMakesAnAgent(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/agents/new")
	field := func(label, value string) chromedp.Action {
		return typed(`//label[text()="`+label+`"]/following-sibling::*[1]`, value)
	}
	button := func(name string) chromedp.Action {
		return click(`//button[starts-with(normalize-space(.),"` + name + `")]`)
	}
	v.do(t, field("Slug", "nightClerk"), field("Model", "none"), field("Instructions", "Count."), button("Create draft"),
		until(`document.querySelector("[aria-invalid]")?.closest(".set-field").innerText.includes("provider/name")`))
	v.do(t, field("Model", "/such"))
	v.do(t, click(`//nav[@class="tabs"]/a[2]`), settled(),
		typed(`.picker input[type=search]`, "lookUp57"),
		until(`document.querySelectorAll(".offer").length === 1 && location.search.includes("search=lookUp57")`),
		click(`.offer input`), until(`document.querySelector(".picked .slug").innerText === "lookUp57"`),
		typed(`.picked input`, "^1.0"))
	v.do(t, button("Create draft"), until(`location.pathname.endsWith("/agents/nightClerk")`), button("Publish"),
		chromedp.WaitVisible(`[role=dialog] input`, chromedp.ByQuery), click(`[role=dialog] .primary`),
		until(`!document.querySelector("[role=dialog]") && document.querySelector("h1").innerText.includes("published")`))
	made, err := v.Store.FindAgent(t.Context(), v.Tenant, "nightClerk")
	require.NoError(t, err)
	require.Equal(t, tool.Published, made.Status)
	require.Equal(t, "lookUp57@^1.0", made.Tools[0].String())
	v.open(t, "/agents?search=nightC&status=published")
	v.do(t, until(`document.querySelectorAll("tbody tr").length === 1`))
	v.blameless(t)
}

// A graph is edited by keyboard alone: nodes are added, connected and checked, changes undone, and numbers stay as
// they were written.
func TestAGraphIsEditedByKeyboard(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools/checkOrders/graph/edit?node=done")
	enter := func(name string) chromedp.Action {
		return chromedp.Tasks{
			chromedp.Evaluate(`[...document.querySelectorAll("main button")].find((b) => b.innerText.startsWith("`+name+`")).focus()`, nil),
			press(kb.Enter),
		}
	}
	// has waits until the picture has the node that is added, or has it no longer.
	has := func(added bool) chromedp.Action {
		return until(fmt.Sprintf(
			`[...document.querySelectorAll("[data-at]")].some((n) => n.textContent.includes("tool1")) === %t`, added))
	}
	v.do(t, has(false), until(`document.querySelector(".problems").innerText.includes("No problems")`))
	v.do(t, enter("Add node"), has(true), until(`document.querySelector(".problems li button")?.innerText.startsWith("tool1")`),
		enter("Undo"), has(false), enter("Redo"), has(true), enter("Undo"), has(false))
	v.do(t, chromedp.Evaluate(`document.querySelector("[data-at='/nodes/0']").focus()`, nil), press(kb.Enter),
		until(`document.querySelector("aside h2").innerText.startsWith("start")`))
	v.do(t, focus(`//label[text()="Title"]/following-sibling::*[1]`), press("!"),
		enter("Save draft"), until(`[...document.querySelectorAll("a.button")].some((a) => a.innerText === "To the tool")`))
	saved, err := v.Store.FindTool(t.Context(), v.Tenant, tool.Ref{Slug: "checkOrders"})
	require.NoError(t, err)
	require.Contains(t, string(saved.Config), "9007199254740993")
	require.Contains(t, string(saved.Config), "Begin!")

	// On a small screen the settings of a node are below the picture, and not upon it.
	v.size(t, 320, 800, "light")
	v.do(t, chromedp.Evaluate(`document.querySelector(".graph-frame").scrollIntoView({ block: "center" })`, nil), until(`(() => {
		const r = document.querySelector(".graph-frame").getBoundingClientRect();
		return !!document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)?.closest(".graph-frame");
	})()`))
	v.blameless(t)
}

// As many nodes as a graph may have cost what is seen of them.
func TestALargeGraphIsDrawnInParts(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	nodes := make([]string, 200)
	for i := range nodes {
		nodes[i] = fmt.Sprintf(`{"id":"n%d","kind":"tool","tool":"lookUp01"}`, i)
	}
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{json.RawMessage(`{"kind":"tool","slug":"long","name":"Long",
		"implementation_type":"graph","implementation_config":{"nodes":[` + strings.Join(nodes, ",") + `]}}`)}})
	v := visit(t, s, browser(t))
	v.signIn(t)
	v.open(t, "/tools/long?tab=graph")
	v.do(t, until(`document.querySelector("[data-at]")`), until(`document.querySelectorAll("[data-at]").length < 40`))
	v.do(t, chromedp.Evaluate(`document.querySelector("[data-at='/nodes/0']").focus()`, nil), press(kb.End),
		until(`document.activeElement.dataset.at === "/nodes/199" && document.querySelectorAll("[data-at]").length < 40`))
	v.open(t, "/tools/long?tab=graph&show=table")
	v.do(t, until(`document.querySelectorAll("tbody tr").length === 200`))
	v.blameless(t)
}

// A person builds a graph of two nodes in the editor, runs it, and sees the state of each to the end.
func TestAPersonRunsAGraph(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.apply(t, strings.ReplaceAll(quote, "%SLUG%", "graphQuote"))
	v.open(t, "/graphs/new")
	field := func(label, value string) chromedp.Action {
		return typed(`//label[text()="`+label+`"]/following-sibling::*[1]`, value)
	}
	add := click(`//button[starts-with(normalize-space(.),"Add node")]`)
	const create = `[...document.querySelectorAll("main button")].find((b) => b.innerText === "Create draft")`
	v.do(t, field("Slug", "quoteTwice"), add, until(`document.querySelector("aside h2")?.innerText.startsWith("tool1")`),
		field("Tool", "graphQuote@^1.0"),
		focus(`//label[text()="Arguments"]/following-sibling::*[1]`),
		chromedp.KeyEvent("a", chromedp.KeyModifiers(input.ModifierCtrl)),
		input.InsertText(`{"id": 7, "pieces": 2}`), until(`!document.querySelector("aside [aria-invalid]")`),
		until(`document.querySelectorAll("[data-at]").length === 2`),
		until(`document.querySelector(".problems").innerText.includes("No problems")`),
		until(create+`.disabled === false`), chromedp.Evaluate(create+`.click()`, nil),
		until(`location.pathname.endsWith("/tools/quoteTwice/graph/edit")`), settled())
	status, answer := v.request(t, http.MethodPost, "/v1/tools/quoteTwice/publish", "{}")
	require.Equal(t, http.StatusOK, status, string(answer))
	v.open(t, "/tools/quoteTwice?tab=test&mode=production")
	v.do(t, click(`.t-send .primary`),
		until(`document.querySelector("main a[href*='/runs/']")`),
		click(`main a[href*='/runs/']`), until(`location.pathname.includes("/runs/")`), settled(),
		until(`document.querySelector("h1 .slug")?.innerText === "quoteTwice"`))
	var at string
	v.do(t, chromedp.Evaluate(`location.pathname.split("/").pop()`, &at))
	v.open(t, "/runs?kind=tool_call")
	v.do(t, until(`document.querySelector("tbody a[href$='/runs/`+at+`'] .slug")?.innerText === "quoteTwice"`))
	v.open(t, "/runs/"+at+"?tab=graph")
	v.do(t, until(`document.querySelectorAll(".graph-node").length === 2`),
		until(`document.querySelectorAll(".graph-node.completed").length === 2`),
		until(`document.querySelector("h1").parentElement.innerText.includes("completed")`))
	v.open(t, "/runs/"+at+"?tab=graph&node=tool1")
	v.do(t, until(`document.querySelector("aside .node-record .o-stats")?.innerText.includes("28")`),
		until(`document.querySelector("aside .node-record svg.o-chart")`)) // By the sections of its tool.
	v.blameless(t)
}

// A person makes an agent with a tool of the picker, publishes it, and starts a run of it, which answers.
func TestAPersonRunsAnAgentOfTheirs(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.apply(t, strings.ReplaceAll(quote, "%SLUG%", "pickedQuote"))
	v.open(t, "/agents/new")
	field := func(label, value string) chromedp.Action {
		return typed(`//label[text()="`+label+`"]/following-sibling::*[1]`, value)
	}
	v.do(t, field("Slug", "doorDesk"), field("Model", "scripted/runs-desk"), field("Instructions", "Answer."),
		click(`//nav[@class="tabs"]/a[2]`), settled(),
		typed(`.picker input[type=search]`, "pickedQuote"),
		takesOffer,
		until(`document.querySelector(".picked .slug")?.innerText === "pickedQuote"`), button("Create draft"),
		until(`location.pathname.endsWith("/agents/doorDesk")`), settled(), button("Publish…"),
		chromedp.WaitVisible(`[role=dialog] input`, chromedp.ByQuery), click(`[role=dialog] .primary`),
		until(`!document.querySelector("[role=dialog]") && document.querySelector("h1").innerText.includes("published")`))
	v.do(t, button("Run…"), chromedp.WaitVisible(`[role=dialog] textarea`, chromedp.ByQuery),
		typed(`[role=dialog] textarea`, "Where is it?"),
		click(`[role=dialog] .primary`), until(`/\/runs\/[0-9a-f-]{36}$/.test(location.pathname)`),
		until(`document.querySelector(".said.assistant .markdown strong")?.innerText === "at the door"`),
		until(`document.querySelector("h1").parentElement.innerText.includes("completed")`))
	v.open(t, "/runs?agent=doorDesk")
	v.do(t, until(`document.querySelectorAll("tbody tr").length === 1`))
	v.blameless(t)
}

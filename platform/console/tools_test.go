package console_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

func (s *site) fillTools(t *testing.T) {
	t.Helper()
	definition := func(version, input, agent string) json.RawMessage {
		return json.RawMessage(`{"kind":"tool","slug":"checkStock","name":"Check the stock","category":"warehouse","version":"` + version + `",
			"egress_class":"read_only","publish":true,"description":"Use it to see whether an article is there.` + agent + `",
			"implementation_type":"http","implementation_config":{"method":"GET","url":"https://stock.example.com/articles/{article}"},
			"input_schema":{"type":"object","required":["article"],"properties":{"article":{"type":"string"}` + input + `}}}`)
	}
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{definition("1.0.0", "", "")}})
	s.post(t, "/v1/apply", v1.Apply{Definitions: []json.RawMessage{
		definition("1.1.0", `,"warehouse":{"type":"string"}`, ""),
		json.RawMessage(`{"kind":"agent","slug":"stockKeeper","name":"Stock keeper","model":"scripted/desk","version":"1.0.0","publish":true,
			"description":"Knows the stock.","instructions":"Look.","tools":["checkStock@^1.0"]}`),
		json.RawMessage(`{"kind":"profile","name":"careful","description":"Until the audit","requires_approval":true,
			"rate":{"calls":10,"per":"minute"}}`),
	}})
	s.change(t, http.MethodPut, "/v1/tools/checkStock", `{"name":"Check the stock","version":"1.1.1","egress_class":"read_only",
		"description":"Use it to see whether an article is there.","implementation_type":"http",
		"implementation_config":{"method":"GET","url":"https://stock.example.com/articles/{article}"},
		"input_schema":{"type":"object","required":["article","warehouse"],
		"properties":{"article":{"type":"string"},"warehouse":{"type":"string"}}}}`)
	s.change(t, http.MethodPut, "/v1/tools/checkStock/override", `{"requires_approval":true,"limits":{"timeout_s":5},"reason":"not before the audit"}`)
	s.change(t, http.MethodPost, "/v1/assignments", `{"tool":"checkStock","agent":"supportDesk","profile":"careful"}`)
	s.change(t, http.MethodPost, "/v1/tools/checkStock/replays", `{"calls":5,"version":"1.1.0"}`)
	s.change(t, http.MethodPost, "/v1/tools/trackParcel/version?new_version=1.5.0", `{}`)
	s.change(t, http.MethodPost, "/v1/tools/trackParcel/canary", `{"version":"1.5.0","share":10,"until_calls":200}`)
	s.change(t, http.MethodPost, "/v1/tools/summarizeTicket/deprecate", `{}`)
}

// change sends a request with the key of the site, and returns its answer.
func (s *site) change(t *testing.T, method, path, body string) []byte {
	t.Helper()
	status, answer := s.request(t, method, path, body)
	require.Less(t, status, 300, "%s %s: %s", method, path, answer)
	return answer
}

func (s *site) request(t *testing.T, method, path, body string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	var out json.RawMessage
	_ = json.NewDecoder(answer.Body).Decode(&out)
	return answer.StatusCode, out
}

func (s *site) toolsPages() []string {
	return []string{
		"/tools?tool_type=custom&open=lookUp03", "/tools/new", "/tools/new?type=http", "/tools/new?type=artifact",
		"/tools/new?type=composition", "/tools/import", "/tools/checkStock/edit", "/tools/missing/edit",
		"/tools/checkStock?tab=versions", "/tools/checkStock?tab=versions&from=1.0.0&to=draft",
		"/tools/trackParcel?tab=versions",
		"/tools/checkStock?tab=users", "/tools/countStock?tab=users",
		"/tools/checkStock?tab=explain&mode=debug&agent=stockKeeper",
		"/tools/countStock?tab=explain", "/tools/checkStock?tab=overrides", "/tools/countStock?tab=overrides",
		"/tools/checkStock?tab=access", "/tools/countStock?tab=access", "/profiles", "/profiles?open=careful",
		"/profiles?new=1",
	}
}

// enter replaces what a field holds, as typing over it does.
func enter(selector, value string) chromedp.Action {
	quoted, _ := json.Marshal(value)
	return chromedp.Tasks{
		chromedp.WaitVisible(selector, chromedp.ByQuery),
		chromedp.Evaluate(`(() => {
			const e = document.querySelector(`+"`"+selector+"`"+`);
			const kind = e.tagName === "TEXTAREA" ? HTMLTextAreaElement : e.tagName === "SELECT" ? HTMLSelectElement : HTMLInputElement;
			e.focus();
			Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(e, `+string(quoted)+`);
			e.dispatchEvent(new Event(e.tagName === "SELECT" ? "change" : "input", {bubbles: true}));
			e.blur();
		})()`, nil),
	}
}

func said(text string) chromedp.Action {
	quoted, _ := json.Marshal(text)
	return until(`document.body.innerText.includes(` + string(quoted) + `)`)
}

// button presses the last button of a text, wherever it is: a dialog may still be moving to its place.
func button(text string) chromedp.Action {
	at := `//button[normalize-space()="` + text + `"][last()]`
	quoted, _ := json.Marshal(at)
	return until(`(() => {
		const first = XPathResult.FIRST_ORDERED_NODE_TYPE;
		const b = document.evaluate(` + string(quoted) + `, document, null, first).singleNodeValue;
		if (!b || b.disabled || !b.checkVisibility()) return false;
		b.focus(); b.click();
		return true;
	})()`)
}

// A person makes a tool, publishes it, and adds an input that calls need from then on: as a patch that is
// refused, in words that name the input; as a major version it is published, and the comparison shows it.
func TestAPersonMakesAndPublishesATool(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools")
	v.do(t, click(`a[href$="/tools/new"]`), chromedp.WaitVisible(`a[href$="type=http"]`, chromedp.ByQuery),
		click(`a[href$="type=http"]`), chromedp.WaitVisible(`#field-slug`, chromedp.ByQuery))

	// What is missing is said at its field, and the first of them gets the focus.
	v.do(t, button("Create the draft"), said("Slug is needed."), said("Address is needed."),
		until(`document.activeElement.id === "field-slug"`))
	v.do(t, enter("#field-slug", "refundOrder"), said("The tenant has a tool of this slug already."))
	v.do(t, enter("#field-slug", "findInvoice"), enter("#field-name", "Find an invoice"),
		enter("#field-description", "Invoices."),
		enter("#field-implementation_config-url", "https://books.example.com/invoices{?number}"),
		said("does not say what the tool does"))
	// What the server refuses is said at the field that it names.
	v.do(t, enter("#field-input_schema", `{"type":"object","properties":{"number":{"type":"nothing"}}}`),
		until(`document.querySelector("#field-input_schema").closest(".edit").querySelector(".error")`))
	v.do(t, enter("#field-input_schema", `{"type":"object",`), said("This is not JSON: line 1"))
	v.do(t, enter("#field-input_schema", `{"type":"object","properties":{"number":{"type":"integer","maximum":9007199254740993}}}`),
		enter("#field-description", "Finds an invoice by its number. Use it before answering a question about one."),
		said("It can be saved"),
		button("Create the draft"), until(`location.pathname.endsWith("/tools/findInvoice")`), settled())
	var made v1.Tool
	require.NoError(t, json.Unmarshal(v.change(t, http.MethodGet, "/v1/tools/findInvoice", ""), &made))
	require.Equal(t, tool.Draft, made.Status)
	require.Contains(t, string(made.InputSchema), "9007199254740993", "digit for digit")

	v.open(t, "/tools/findInvoice?tab=versions")
	v.do(t, button("Publish the draft…"), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), button("Publish"),
		until(`!document.querySelector("[role=alertdialog]")`), until(`document.querySelector("tbody tr")?.innerText.includes("1.0.0")`))

	edit := func(version string) {
		v.open(t, "/tools/findInvoice/edit")
		v.do(t, enter("#field-version", version),
			enter("#field-input_schema", `{"type":"object","required":["year"],"properties":{"number":{"type":"integer","maximum":9007199254740993},"year":{"type":"integer"}}}`),
			said("It can be saved"), button("Save the draft"), until(`location.pathname.endsWith("/tools/findInvoice")`), settled())
		v.open(t, "/tools/findInvoice?tab=versions")
		v.do(t, button("Publish the draft…"), chromedp.WaitVisible(`[role=alertdialog] .change-list`, chromedp.ByQuery), button("Publish"))
	}
	edit("1.0.1")
	v.do(t, until(`document.querySelector("[role=alertdialog] .refusal")?.innerText.includes("year")`),
		until(`document.querySelector("[role=alertdialog] .refusal").innerText.includes("2.0.0")`))
	edit("2.0.0")
	v.do(t, until(`!document.querySelector("[role=alertdialog]")`), until(`document.querySelector("tbody tr")?.innerText.includes("2.0.0")`))

	v.open(t, "/tools/findInvoice?tab=versions&from=1.0.0&to=2.0.0")
	v.do(t, said("It breaks callers"), until(`document.querySelector(".change-list")?.innerText.includes("input/year")`))
	v.blameless(t)
}

// A draft that another changed meanwhile is not saved over: both are shown, with who made the other.
func TestAnEditMeetsAnother(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools/countStock/edit")
	v.do(t, enter("#field-description", "Use it to count what is there."))
	v.change(t, http.MethodPut, "/v1/tools/countStock",
		`{"name":"Count","version":"0.3.0","description":"Use it to count the articles.","implementation_type":"internal"}`)
	v.do(t, button("Save the draft"), chromedp.WaitVisible(".conflict", chromedp.ByQuery),
		until(`document.querySelector(".conflict").innerText.includes("Use it to count the articles.")`),
		until(`document.querySelector(".conflict").innerText.includes("Use it to count what is there.")`),
		until(`document.querySelector(".conflict").querySelector(".id")`))
	v.accessible(t, "light", "a conflict")
	v.do(t, button("Save mine over theirs"), until(`location.pathname.endsWith("/tools/countStock")`), settled())
	var now v1.Tool
	require.NoError(t, json.Unmarshal(v.change(t, http.MethodGet, "/v1/tools/countStock", ""), &now))
	require.Equal(t, "Use it to count what is there.", now.Description)
	v.blameless(t)
}

// A document becomes tools: those of the operations that were chosen.
func TestAPersonImportsADocument(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools/import")
	v.do(t, enter(".import textarea", `openapi: 3.0.3
info: {title: Orders, version: "1"}
servers: [{url: "https://orders.example.com"}]
paths:
  /orders/{id}:
    get: {operationId: getOneOrder, summary: Get an order, parameters: [{name: id, in: path, required: true, schema: {type: string}}], responses: {"200": {description: It.}}}
    delete: {operationId: deleteOneOrder, parameters: [{name: id, in: path, required: true, schema: {type: string}}], responses: {"204": {description: Gone.}}}
`), button("See what becomes of it"), chromedp.WaitVisible(".operations", chromedp.ByQuery), said("deleteOneOrder"))
	v.accessible(t, "light", "a plan")
	v.do(t, click(`[aria-label="DELETE /orders/{id}"]`), button("Import 1 tool"), said("1 created"))
	v.accessible(t, "light", "a result")
	status, _ := v.request(t, http.MethodGet, "/v1/tools/getOneOrder", "")
	require.Equal(t, http.StatusOK, status)
	status, _ = v.request(t, http.MethodGet, "/v1/tools/deleteOneOrder", "")
	require.Equal(t, http.StatusNotFound, status)
	v.blameless(t)
}

// The drawer goes on to the next page of the list that it came from, with its filters; what is picked is
// changed together.
func TestTheRegistryIsWalkedAndChanged(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools")
	v.do(t, until(`document.querySelector(".facets")?.innerText.includes("Custom")`))
	v.open(t, "/tools?search=lookUp&open=lookUp49")
	v.do(t, button("Next"), until(`location.search.includes("open=lookUp50") && location.search.includes("search=lookUp")`),
		until(`document.querySelectorAll("tbody tr").length === 10`))
	v.do(t, button("Next"), until(`location.search.includes("open=lookUp51")`), button("Previous"),
		until(`location.search.includes("open=lookUp50")`))

	v.open(t, "/tools?search=lookUp0")
	v.do(t, click(`[aria-label="Pick lookUp01"]`), click(`[aria-label="Pick lookUp02"]`),
		button("Disable…"), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), button("Disable"), said("2 changed"))
	v.open(t, "/tools?search=lookUp0&status=disabled")
	v.do(t, until(`document.querySelectorAll("tbody tr").length === 2`))
	v.open(t, "/tools?egress_class=write&risk=high&category=orders")
	v.do(t, until(`document.querySelectorAll("tbody tr").length === 1 && document.querySelector("tbody").innerText.includes("refundOrder")`))
	v.blameless(t)
}

// A tenant's decision about a tool, a canary, an assignment and a profile are made and taken back on its pages.
func TestAPersonDecidesAboutATool(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools/checkStock?tab=users")
	v.do(t, said("stockKeeper"), said("breaks"))

	v.open(t, "/tools/checkStock?tab=overrides")
	v.do(t, enter(`[name=enabled]`, "off"), enter(`[name=reason]`, "the stock is counted"), button("Decide"), said("It is switched off"),
		said("the stock is counted"))
	v.open(t, "/tools/checkStock?tab=explain")
	v.do(t, said("Nothing would run"), until(`document.querySelector(".chain .bad")`))
	v.open(t, "/tools/checkStock?tab=overrides")
	v.do(t, button("Take it back…"), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), button("Take it back"), said("It is switched on"))

	v.open(t, "/tools/trackParcel?tab=versions")
	v.do(t, said("10 % of the runs"), button("Give it to every run…"), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery),
		button("Give it to every run"), said("every run gets it"))

	v.open(t, "/tools/checkStock?tab=access")
	v.do(t, click(`[aria-label="Revoke of supportDesk"]`), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery),
		button("Revoke"), said("It is assigned to no agent"))
	v.open(t, "/profiles?new=1")
	v.do(t, enter(`[name=name]`, "slow"), enter(`[name=calls]`, "3"), button("Make it"), until(`location.search.includes("open=slow")`),
		said("3 a minute"))
	v.open(t, "/tools/checkStock?tab=access")
	v.do(t, button("Assign…"), enter(`[name=agent]`, "stockKeeper"), enter(`[name=profile]`, "slow"), button("Assign"), said("stockKeeper"))
	v.open(t, "/profiles?open=slow")
	v.do(t, said("checkStock"), button("Edit"), enter(`[name=max_concurrency]`, "2"), button("Save"), said("2 at once"))

	v.open(t, "/tools/summarizeTicket")
	v.do(t, enter(`.page-title select`, "disable"), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), press(kb.Escape),
		until(`!document.querySelector("[role=alertdialog]")`))
	v.blameless(t)
}

// A tool gets another slug, is archived, found among what is archived, taken out again, and deleted.
func TestAToolIsRenamedArchivedAndDeleted(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	change := func(to, asks string) chromedp.Action {
		return chromedp.Tasks{enter(`.page-title select`, to), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), said(asks)}
	}
	v.open(t, "/tools/lookUp58")
	v.do(t, change("rename", "Rename lookUp58"), enter("#ask-slug", "lookUp57"), button("Rename"),
		until(`document.querySelector("[role=alertdialog] .refusal")`), enter("#ask-slug", "lookAround"), button("Rename"),
		until(`location.pathname.endsWith("/tools/lookAround")`), settled(), until(`!document.querySelector("[role=alertdialog]")`))
	status, _ := v.request(t, http.MethodGet, "/v1/tools/lookAround", "")
	require.Equal(t, http.StatusOK, status)

	v.do(t, change("archive", "Archive lookAround?"), button("Archive"), until(`!document.querySelector("[role=alertdialog]")`))
	v.open(t, "/tools?search=lookAround")
	v.do(t, said("No tool matches these filters"), click(`//label[contains(., "Archived")]/input`),
		until(`location.search.includes("archived=true")`), until(`document.querySelector("tbody")?.innerText.includes("lookAround")`))
	v.open(t, "/tools/lookAround")
	v.do(t, change("restore", "out of the archive?"), button("Restore"), until(`!document.querySelector("[role=alertdialog]")`),
		until(`[...document.querySelectorAll(".page-title option")].some((o) => o.value === "disable")`))
	v.do(t, change("disable", "Disable lookAround?"), button("Disable"), until(`!document.querySelector("[role=alertdialog]")`),
		until(`[...document.querySelectorAll(".page-title option")].some((o) => o.value === "delete")`))
	v.do(t, change("delete", "Delete lookAround?"), button("Delete"), until(`location.pathname.endsWith("/tools")`), settled())
	status, _ = v.request(t, http.MethodGet, "/v1/tools/lookAround", "")
	require.Equal(t, http.StatusNotFound, status)
	v.blameless(t)
}

// A draft is given to a share of the runs, and taken back.
func TestACanaryIsStartedAndTakenBack(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.change(t, http.MethodPut, "/v1/tools/lookUp07", `{"name":"Look up","version":"1.1.0","description":"Looks up what there is.",
		"implementation_type":"internal"}`)
	v.open(t, "/tools/lookUp07?tab=versions")
	v.do(t, button("Try on a share…"), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), enter("#ask-share", "25"), button("Start"),
		until(`!document.querySelector("[role=alertdialog]")`), said("25 % of the runs"))
	v.do(t, button("Take it back…"), chromedp.WaitVisible(`[role=alertdialog]`, chromedp.ByQuery), button("Take it back"),
		said("stopped by a person"))
	v.blameless(t)
}

// A graph is a tool too, and is begun from where tools are.
func TestToolsLeadToANewGraph(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools")
	v.do(t, click(`a[href$="/graphs/new"]`), until(`location.pathname.endsWith("/graphs/new")`), settled())
	v.blameless(t)
}

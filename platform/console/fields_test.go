package console_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/schema/field"
)

var keystrokes = flag.Int("keystrokes", 0, "how many keys TestKeystrokes types into a form of 300 fields")

// putIn fills in the input at a path of the form, as a person does.
const putIn = `((path, value) => {
	const all = [...document.querySelectorAll(".f-form [id]")];
	const at = all.find((e) => e.id.endsWith(path) && !e.id.slice(0, -path.length).includes("/"));
	if (!at) throw new Error("there is no input at " + path);
	const labelled = (text) => [...at.querySelectorAll("label")].find((l) => l.innerText.trim() === text).querySelector("input");
	if (at.tagName === "FIELDSET") {
		for (const text of [].concat(value)) labelled(text).click();
		return true;
	}
	if (at.type === "checkbox") {
		at.click();
		return true;
	}
	const kind = {TEXTAREA: HTMLTextAreaElement, SELECT: HTMLSelectElement}[at.tagName] ?? HTMLInputElement;
	at.focus();
	Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(at, value);
	at.dispatchEvent(new Event(at.tagName === "SELECT" ? "change" : "input", {bubbles: true}));
	if (at.closest(".f-tags")) at.blur();
	return true;
})`

func (v *visitor) put(t *testing.T, path string, value any) {
	t.Helper()
	raw, err := json.Marshal([]any{path, value})
	require.NoError(t, err)
	v.do(t, until(`document.querySelector(".f-form")`), chromedp.Evaluate(putIn+"(..."+string(raw)+")", nil))
}

// at is an expression of what is at a path of the form.
func at(path string) string {
	return `[...document.querySelectorAll(".f-form [id]")].find((e) => e.id.endsWith("` + path + `"))`
}

// arrived is the input of the last call of a tool, as it is recorded.
func (v *visitor) arrived(t *testing.T, slug string) map[string]json.RawMessage {
	t.Helper()
	var list struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	require.NoError(t, json.Unmarshal(v.change(t, http.MethodGet, "/v1/invocations?limit=1&tool="+slug, ""), &list))
	require.NotEmpty(t, list.Items)
	var one struct {
		Input map[string]json.RawMessage `json:"input"`
	}
	require.NoError(t, json.Unmarshal(v.change(t, http.MethodGet, "/v1/invocations/"+list.Items[0].ID, ""), &one))
	return one.Input
}

// entered is what a person fills in for each type and display, and what arrives.
var entered = []struct {
	typ     field.Type
	display field.Display
	more    string // Of the field.
	value   any
	arrives string
}{
	{field.Text, field.Input, "", "<b>a</b>", `"<b>a</b>"`},
	{field.Text, field.Textarea, "", "two\nlines", `"two\nlines"`},
	{field.Text, field.Markdown, "", "**bold**", `"**bold**"`},
	{field.Text, field.Code, "", "x := 1", `"x := 1"`},
	{field.Number, field.Input, `,"integer":true`, "9223372036854775807", `9223372036854775807`},
	{field.Number, field.Slider, `,"min":0,"max":10,"integer":true`, "7", `7`},
	{field.Number, field.Currency, "", "1.10", `1.10`},
	{field.Number, field.Percent, "", "-0.000000000000000000012", `-0.000000000000000000012`},
	{field.Number, field.Rating, `,"max":5`, "★\n4 of 5", `4`},
	{field.Boolean, field.Switch, "", true, `true`},
	{field.Boolean, field.Checkbox, "", true, `true`},
	{field.Date, field.Day, "", "2026-12-31", `"2026-12-31"`},
	{field.Date, field.Moment, "", "2026-12-31T10:00:30", `"2026-12-31T10:00:30Z"`},
	{field.Date, field.Time, "", "10:30", `"10:30"`},
	{field.Enum, field.Select, `,"options":["a",{"value":2,"label":"Two"}]`, "1", `2`},
	{field.Enum, field.Radio, `,"options":["a","b"]`, "b", `"b"`},
	{field.Enum, field.Chips, `,"multiple":true,"options":["a","b",{"value":true,"label":"Yes"}]`, []string{"Yes", "a"}, `["a",true]`},
	{field.URL, field.Input, "", "https://a.example.com/?q=1", `"https://a.example.com/?q=1"`},
	{field.URL, field.Link, "", "https://b.example.com/", `"https://b.example.com/"`},
	{field.Email, field.Input, "", "a@example.com", `"a@example.com"`},
	{field.Email, field.Link, "", "b@example.com", `"b@example.com"`},
	{field.Phone, field.Input, "", "+49 30 1234", `"+49 30 1234"`},
	{field.Phone, field.Link, "", "030 1234", `"030 1234"`},
	{field.Media, field.File, "", "https://m.example.com/a.pdf", `"https://m.example.com/a.pdf"`},
	{field.Media, field.Image, "", "https://m.example.com/a.png", `"https://m.example.com/a.png"`},
	{field.Media, field.Audio, "", "https://m.example.com/a.ogg", `"https://m.example.com/a.ogg"`},
	{field.Media, field.Video, "", "https://m.example.com/a.webm", `"https://m.example.com/a.webm"`},
	{field.Upload, field.File, "", nil, ""},
	{field.Upload, field.Image, "", nil, ""},
	{field.Relation, field.Picker, `,"entity_type":"opportunity"`, "deal-7", `"deal-7"`},
	{field.Relation, field.Select, `,"entity_type":"opportunity","multiple":true`, "deal-8", `["deal-8"]`},
	{field.Object, field.Group, `,"fields":[{"key":"x","type":"number"}]`, nil, `{"x":1.10}`},
	{field.Object, field.Map, `,"items":{"type":"number"}`, nil, `{"k":2.50}`},
	{field.Object, field.JSON, "", `{"deep":[9007199254740993,1.0]}`, `{"deep":[9007199254740993,1.0]}`},
	{field.Array, field.List, `,"items":{"type":"number"}`, nil, `[3.00]`},
	{field.Array, field.Table, `,"items":{"type":"object","fields":[{"key":"x","type":"number"},{"key":"y","type":"boolean"}]}`, nil, `[{"x":4.40,"y":true}]`},
	{field.Array, field.Tags, `,"items":{"type":"text"}`, "one, two", `["one","two"]`},
}

// union is a field of which the schema lists alternatives.
const union = `,{"key":"union","type":"object","display":"json","schema":{"oneOf":[{"type":"string"},
	{"type":"object","title":"By number","additionalProperties":false,"required":["kind","n"],
	"properties":{"kind":{"const":"number"},"n":{"type":"integer"}}}]}}`

// What a person fills in arrives at the tool as it was typed, in each type and display.
func TestEveryFieldArrivesAsTyped(t *testing.T) {
	t.Parallel()

	v := live(t)
	var fields []string
	seen := map[string]bool{}
	for _, e := range entered {
		key := fmt.Sprintf("%s_%s", e.typ, e.display)
		seen[key] = true
		fields = append(fields, fmt.Sprintf(`{"key":%q,"type":%q,"display":%q%s}`, key, e.typ, e.display, e.more))
	}
	for _, typ := range field.Types() {
		for _, display := range field.Displays(typ) {
			require.Contains(t, seen, fmt.Sprintf("%s_%s", typ, display), "nothing is filled in")
		}
	}
	v.apply(t, `{"kind":"tool","slug":"takeAll","description":"Takes all.","version":"1.0.0","implementation_type":"custom",
		"implementation_config":{"executor":"quote"},"execution":{"timeout_s":20,"is_pure":true},"input_fields":[`+
		strings.Join(fields, ",")+union+`]}`)
	v.size(t, 1280, 900, "light")
	v.do(t, emulation.SetTimezoneOverride("UTC"))
	v.open(t, "/tools/takeAll?tab=test")
	for _, e := range entered {
		if e.value != nil {
			v.put(t, fmt.Sprintf("/%s_%s", e.typ, e.display), e.value)
		}
	}
	v.put(t, "/object_group/x", "1.10")
	v.do(t, enter(`[aria-label="New name in object_map"]`, "k"),
		chromedp.Evaluate(`[...`+at("/object_map")+`.querySelectorAll("button")].find((b) => b.innerText === "Add").click()`, nil),
		until(at("/object_map/k")))
	v.put(t, "/object_map/k", "2.50")
	for key, path := range map[string]string{"/array_list": "/array_list/0", "/array_table": "/array_table/0/x"} {
		v.do(t, chromedp.Evaluate(at(key)+`.querySelector(".f-add").click()`, nil), until(at(path)))
	}
	v.put(t, "/array_list/0", "3.00")
	v.put(t, "/array_table/0/x", "4.40")
	v.put(t, "/array_table/0/y", true)
	v.do(t, chromedp.Evaluate(`[...`+at("/union")+`.querySelectorAll("label")].find((l) => l.innerText.trim() === "By number").click()`, nil),
		until(at("/union/n")))
	v.put(t, "/union/n", "9223372036854775807")
	file := filepath.Join(t.TempDir(), "square.png")
	require.NoError(t, os.WriteFile(file, square(t), 0o600))
	for i, key := range []string{"/file_file", "/file_image"} {
		v.do(t, chromedp.Evaluate(at(key)+`.setAttribute("data-upload", "`+strconv.Itoa(i)+`")`, nil),
			chromedp.SetUploadFiles(fmt.Sprintf(`[data-upload="%d"]`, i), []string{file}, chromedp.ByQuery),
			until(fmt.Sprintf(`document.querySelectorAll(".f-stored a").length === %d`, i+1)))
	}
	v.picture(t, "all-fields")
	v.do(t, click(`.t-send .primary`), until(`document.querySelector(".t-output .o-output, .f-summary, .t-output .bad")`))
	v.do(t, until(`document.querySelector(".t-output .o-output")`))

	got := v.arrived(t, "takeAll")
	for _, e := range entered {
		key := fmt.Sprintf("%s_%s", e.typ, e.display)
		if e.typ == field.Upload {
			require.Contains(t, string(got[key]), `"file_id":"`, key)
			continue
		}
		require.Equal(t, exact(t, []byte(e.arrives)), exact(t, got[key]), key)
	}
	require.Contains(t, string(got["union"]), `"n":9223372036854775807`)
	require.Contains(t, string(got["union"]), `"kind":"number"`)
	v.blameless(t)
}

// exact writes JSON in one way, with numbers as they are.
func exact(t *testing.T, raw []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

func square(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, 8, 8))))
	return out.Bytes()
}

// shipping is a tool whose fields depend on one another.
const shipping = `{"kind":"tool","slug":"%SLUG%","description":"Ships what was ordered.","version":"1.0.0","implementation_type":"custom",
	"implementation_config":{"executor":"quote"},"execution":{"timeout_s":20,"is_pure":true},"input_fields":[
		{"key":"kind","label":"Kind","type":"enum","display":"chips","required":true,"options":[{"value":"letter","label":"Letter"},{"value":"parcel","label":"Parcel"}]},
		{"key":"weight","label":"Weight","type":"number","required":true,"visible_when":{"field":"kind","in":["parcel"]}},
		{"key":"insured","label":"Insured","type":"boolean","display":"checkbox","section":"Insurance","visible_when":{"field":"weight"}},
		{"key":"worth","label":"Worth","type":"number","default":50,"section":"Insurance","visible_when":{"field":"insured","in":[true]}},
		{"key":"model","label":"Model","type":"text","advanced":true}]}`

// A field whose conditions are not met is neither shown nor sent, nor is what depends on it; what was filled in is
// there again when it is shown again.
func TestFieldsUnderConditions(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.apply(t, strings.ReplaceAll(shipping, "%SLUG%", "shipGoods"))
	v.size(t, 1280, 900, "light")
	v.open(t, "/tools/shipGoods?tab=test")
	v.do(t, until(at("/kind")), until(`!`+at("/weight")), until(`getComputedStyle(document.querySelector(".f-section")).display === "none"`))
	v.put(t, "/kind", "Parcel")
	v.do(t, until(at("/weight")), until(`!`+at("/insured")))
	v.do(t, click(`.t-send .primary`),
		until(`document.querySelector(".f-summary")?.innerText.includes("Weight")`))
	v.put(t, "/weight", "2.50")
	v.do(t, until(at("/insured")))
	v.put(t, "/insured", true)
	v.do(t, until(at("/worth")+`?.value === "50"`))
	v.picture(t, "conditions")

	v.put(t, "/kind", "Letter")
	v.do(t, until(`!`+at("/weight")), until(`!`+at("/worth")))
	v.put(t, "/kind", "Parcel")
	v.do(t, until(at("/weight")+`?.value === "2.50"`), until(at("/worth")+`?.value === "50"`))
	v.put(t, "/kind", "Letter")
	v.do(t, click(`.t-send .primary`), until(`document.querySelector(".t-output .o-output")`))
	got := v.arrived(t, "shipGoods")
	require.Len(t, got, 1)
	require.Equal(t, `"letter"`, string(got["kind"]))

	// A program that sends what is hidden is refused, with the field.
	status, answer := v.request(t, http.MethodPost, "/v1/tools/shipGoods/test", `{"arguments":{"kind":"letter","weight":2}}`)
	require.Contains(t, string(answer), "/weight expected no value here", status)
	v.blameless(t)
}

// An embedded form leaves out what is for operators, and its drop zone is small.
func TestEmbeddedFormsAreForGuests(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools/everyField?tab=test")
	v.do(t, until(at("/more")), until(`document.querySelector(".f-more summary").innerText === "Additional options"`),
		until(`!document.querySelector(".f-more").open`), until(`document.querySelector(".f-manual")`),
		until(`document.querySelector(".f-drop:not(.compact)")`))
	v.open(t, "/tools/everyField?tab=test&as=embed")
	v.do(t, until(at("/text0")), until(`!document.querySelector(".f-more")`), until(`!`+at("/more")),
		until(`!document.querySelector(".f-manual")`), until(`document.querySelector(".f-drop.compact")`),
		until(`!document.querySelector(".f-drop:not(.compact)")`))
	v.blameless(t)
}

// A schema that another vendor marked has pickers: of one entity, and of several; of what the platform does not keep,
// the id is entered.
func TestForeignSchemasHavePickers(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	ids := map[string]string{}
	for _, slug := range []string{"refundOrder", "countStock", "trackParcel"} {
		var of v1.Tool
		require.NoError(t, json.Unmarshal(v.change(t, http.MethodGet, "/v1/tools/"+slug, ""), &of))
		ids[slug] = of.ID
	}
	v.open(t, "/tools/linkDeals?tab=test")
	v.put(t, "/deal", "deal-7")
	pick := func(path, slug string) {
		v.do(t, chromedp.Evaluate(at(path)+`.focus()`, nil))
		raw, err := json.Marshal(slug)
		require.NoError(t, err)
		v.do(t, chromedp.Evaluate(`((e) => {
			Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(e, `+string(raw)+`);
			e.dispatchEvent(new Event("input", {bubbles: true}));
		})(`+at(path)+`)`, nil), until(`document.querySelector(".f-options [role=option]")?.innerText.includes(`+string(raw)+`)`),
			click(`.f-options [role=option]`),
			until(`[...document.querySelectorAll(".f-tag")].some((x) => x.innerText.includes(`+string(raw)+`))`))
	}
	pick("/main", "refundOrder")
	v.do(t, until(`!`+at("/main"))) // One is all.
	pick("/others", "countStock")
	pick("/others", "trackParcel")
	v.do(t, click(`.t-input .buckets button:nth-child(3)`), until(`document.querySelector(".cm-content")`))
	for _, id := range ids {
		v.do(t, until(`document.querySelector(".cm-content").innerText.includes("`+id+`")`))
	}
	var text string
	v.do(t, chromedp.Evaluate(`document.querySelector(".cm-content").innerText`, &text))
	var got struct {
		Deal, Main string
		Others     []string
	}
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	require.Equal(t, "deal-7", got.Deal)
	require.Equal(t, ids["refundOrder"], got.Main)
	require.Equal(t, []string{ids["countStock"], ids["trackParcel"]}, got.Others)
	v.blameless(t)
}

// The drop zone takes images that are dropped on it, and refuses other files and large ones before they are sent.
func TestImagesAreDropped(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.apply(t, `{"kind":"tool","slug":"framePicture","description":"Frames pictures.","version":"1.0.0","implementation_type":"custom",
		"implementation_config":{"executor":"quote"},"input_fields":[{"key":"picture","type":"file","display":"image","max_bytes":2000},
		{"key":"rows","type":"array","display":"table","items":{"type":"object","fields":[{"key":"scan","type":"file","display":"image"}]}}]}`)
	v.open(t, "/tools/framePicture?tab=test")
	drop := func(name, kind, encoded string) chromedp.Action {
		return chromedp.Evaluate(`(() => {
			const data = new DataTransfer();
			data.items.add(new File([Uint8Array.from(atob("`+encoded+`"), (c) => c.charCodeAt(0))], "`+name+`", {type: "`+kind+`"}));
			document.querySelector(".f-drop").dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data}));
		})()`, nil)
	}
	v.do(t, until(`document.querySelector(".f-drop")?.innerText.includes("up to 2 kB")`),
		drop("notes.txt", "text/plain", "aGVsbG8="), until(`document.querySelector(".f-problem")?.innerText.includes("notes.txt is no image")`),
		drop("large.png", "image/png", base64.StdEncoding.EncodeToString(make([]byte, 3000))),
		until(`document.querySelector(".f-problem")?.innerText.includes("at most 2 kB are taken")`),
		drop("square.png", "image/png", base64.StdEncoding.EncodeToString(square(t))),
		until(`document.querySelector(".f-images img")?.naturalWidth === 8`), until(`!document.querySelector(".f-problem")`))
	v.picture(t, "drop")
	// It is a file input too, for the keyboard, and small in a table.
	v.do(t, click(`.f-images .f-remove`), until(at("/picture")+`?.type === "file"`),
		chromedp.Evaluate(at("/rows")+`.querySelector(".f-add").click()`, nil), until(`document.querySelector("td .f-drop.compact")`),
		until(`!document.querySelector("td .f-manual")`))
	v.blameless(t)
}

// A list of fields and its schema are one: what is edited as one is read as the other, and what is saved is both.
func TestFieldsAreEditedInTheEditor(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.size(t, 1280, 900, "light")
	v.open(t, "/tools/linkDeals/edit")
	as := func(name string) chromedp.Action {
		return click(`//span[@aria-label="Input schema as"]/button[.="` + name + `"]`)
	}
	v.do(t, chromedp.WaitVisible("#field-input_schema", chromedp.ByQuery), as("Fields"),
		until(`document.querySelectorAll(".f-editor > ol > li").length === 3`),
		click(`//button[.="Add a field"]`), until(at("/key")))
	v.put(t, "/key", "amount")
	v.put(t, "/type", "1")
	v.do(t, until(at("/integer")))
	v.put(t, "/integer", true)
	v.put(t, "/max", "9223372036854775807")
	v.do(t, click(`//button[.="Add a condition"]`),
		enter(`[aria-label="Field of condition 1"]`, "deal"), said("It can be saved"))
	v.picture(t, "field-editor")
	v.accessible(t, "light", "the editor of fields")
	v.do(t, as("JSON Schema"), until(`document.querySelector("#field-input_schema")?.value.includes('"maximum": 9223372036854775807')`),
		until(`document.querySelector("#field-input_schema").value.includes('"x-entity-select": "multiple"')`),
		until(`document.querySelector("#field-input_schema").value.includes('"else"')`))
	v.do(t, as("Fields"), until(`document.querySelectorAll(".f-editor > ol > li").length === 4`))

	// What the server refuses is said at its field.
	v.do(t, click(`//button[.="Add a field"]`), until(at("/key")))
	v.put(t, "/key", "amount")
	v.do(t, until(`[...document.querySelectorAll(".f-editor > ol > li")].at(-1).innerText.includes("refused")`))
	v.put(t, "/key", "note")
	v.do(t, said("It can be saved"), button("Save the draft"), until(`location.pathname.endsWith("/tools/linkDeals")`), settled())
	var now v1.Tool
	require.NoError(t, json.Unmarshal(v.change(t, http.MethodGet, "/v1/tools/linkDeals", ""), &now))
	form, err := field.Read(now.InputSchema)
	require.NoError(t, err)
	require.Len(t, form.Fields, 5)
	require.Equal(t, "amount", form.Fields[3].Key)
	require.Equal(t, json.Number("9223372036854775807"), form.Fields[3].Max)
	require.Equal(t, []field.Condition{{Field: "deal"}}, form.Fields[3].VisibleWhen)
	require.Equal(t, field.Relation, form.Fields[2].Type)

	// The draft is tested beside.
	v.open(t, "/tools/linkDeals/edit")
	v.do(t, until(`document.querySelector(".editor-test .t-send")`), until(`document.querySelector(".editor-test")?.innerText.includes("note")`))
	v.blameless(t)
}

// The list of calls is narrowed by its filters, and its drawer shows a result by the sections of the tool, or as it is.
func TestCallsAreNarrowed(t *testing.T) {
	t.Parallel()

	s := newSite(t, "")
	s.apply(t, `{"kind":"tool","slug":"weighParcels","description":"Weighs parcels.","version":"1.0.0","implementation_type":"custom",
		"implementation_config":{"executor":"quote"},"publish":true,"input_fields":[{"key":"n","type":"number"}],
		"output_sections":[{"key":"total","label":"To pay","type":"summary"},{"key":"days","label":"Parcels","type":"chart"}]}`)
	_, err := s.Conn(t).Exec(t.Context(), `insert into tool_invocations (id, tenant_id, run_id, turn, call_id, tool, tool_id, tool_scope_id,
			version, mode, status, input, output, error_kind, error, started_at, completed_at)
		select ('01975c2e-7d1a-7c3e-9300-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, 1, 'narrow_' || n,
			case when n > 3 then 'searchOrders' else 'weighParcels' end, case when n < 4 then t.id end, case when n < 4 then t.scope_id end,
			case when n < 4 then '1.0.0' else '' end, 'production', case n when 2 then 'failed' else 'completed' end, '{"n":1.10}'::json,
			case when n <> 2 then '{"structured":{"total":{"net":21,"gross":28},"days":[{"day":"Mon","parcels":3},{"day":"Tue","parcels":5}],
				"id":9223372036854775807}}'::json end,
			case n when 2 then 'timeout' else '' end, case n when 2 then 'it took too long' else '' end, now(), now()
		from generate_series(1, 4) n, tool_registry t where t.scope_id = $1 and t.slug = 'weighParcels'`, s.Tenant, s.Run.ID)
	require.NoError(t, err)
	v := visit(t, s, browser(t))
	v.signIn(t)
	v.open(t, "/calls")
	rows := func(n int) chromedp.Action {
		return until(fmt.Sprintf(`document.querySelectorAll("tbody tr").length === %d`, n))
	}
	v.do(t, until(`document.querySelectorAll("tbody tr").length > 3`), enter(`.filters input[type=search]`, "weighParcels"), rows(3))
	v.do(t, enter(`.filters .choice:nth-of-type(2) select`, "failed"), until(`location.search.includes("status=failed")`), rows(1),
		until(`document.querySelector("tbody").innerText.includes("it took too long")`))
	v.open(t, "/calls?tool=weighParcels&kind=timeout")
	v.do(t, rows(1))
	v.open(t, "/calls?tool=weighParcels&kind=denied")
	v.do(t, said("No call matches these filters"), button("Clear the filters"), until(`document.querySelectorAll("tbody tr").length > 3`))
	v.open(t, "/calls?tool=weighParcels&until=2025-01-02")
	v.do(t, said("No call matches these filters"))

	v.open(t, "/calls?tool=weighParcels&open=01975c2e-7d1a-7c3e-9300-000000000001")
	v.do(t, until(`document.querySelector("aside .o-stats")?.innerText.includes("28")`), until(`document.querySelector("aside svg.o-chart")`),
		click(`aside .o-tools button`),
		until(`document.querySelector("aside .o-output .json")?.innerText.includes("9223372036854775807")`))
	v.picture(t, "narrowed")
	v.accessible(t, "light", "the sections of a result")
	v.open(t, "/calls?open=01975c2e-7d1a-7c3e-9300-000000000004")
	v.do(t, until(`document.querySelector("aside .o-facts")`), until(`document.querySelector("aside .o-table")?.innerText.includes("Tue")`))
	v.blameless(t)
}

// TestKeystrokes types into a form of 300 fields and prints how long the page needed for each key, in milliseconds.
// Nothing is asserted of them: go test ./console -run TestKeystrokes -keystrokes 200 -v.
func TestKeystrokes(t *testing.T) { //nolint:paralleltest // It is alone.
	if *keystrokes == 0 {
		t.Skip("it measures: run it with -keystrokes")
	}
	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	properties := make([]string, 300)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"f%03d":{"type":"string","title":"Field %d"}`, i, i)
	}
	v.apply(t, `{"kind":"tool","slug":"widestForm","implementation_type":"internal","input_schema":{"type":"object","properties":{`+
		strings.Join(properties, ",")+`}}}`)
	v.open(t, "/tools/widestForm?tab=test")
	var took []float64
	v.do(t, until(`document.querySelectorAll(".f-form input").length === 300`), chromedp.Evaluate(fmt.Sprintf(`(async () => {
		const input = [...document.querySelectorAll(".f-form input")][150];
		const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
		const took = [];
		input.focus();
		for (let i = 0; i < %d; i++) {
			await new Promise(requestAnimationFrame);
			const began = performance.now();
			set.call(input, input.value + "x");
			input.dispatchEvent(new Event("input", {bubbles: true}));
			input.getBoundingClientRect();
			await new Promise((r) => { const c = new MessageChannel(); c.port1.onmessage = r; c.port2.postMessage(0); });
			took.push(performance.now() - began);
		}
		return took.sort((a, b) => a - b);
	})()`, *keystrokes), &took, awaited))
	at := func(part float64) float64 { return took[min(len(took)-1, int(part*float64(len(took))))] }
	t.Logf("%d keys in a form of 300 fields: median %.2f ms, p95 %.2f ms, most %.2f ms",
		len(took), at(0.5), at(0.95), took[len(took)-1])
	v.blameless(t)
}

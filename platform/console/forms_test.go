package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// quote is a tool whose executor says what it does while it works.
const quote = `{"kind":"tool","slug":"%SLUG%","name":"Quote","description":"Says what parcels cost.","version":"1.0.0",
	"publish":true,"implementation_type":"custom","implementation_config":{"executor":"quote"},
	"input_fields":[
		{"key":"id","label":"Order","type":"number","integer":true,"required":true},
		{"key":"rate","label":"Rate","type":"number"},
		{"key":"pieces","label":"Pieces","type":"number","integer":true,"min":1,"max":100,"required":true},
		{"key":"wrap","label":"Wrapping","type":"enum","display":"chips","options":["paper",{"value":"silk","label":"Silk ribbon"}]},
		{"key":"note","label":"Note","type":"text","display":"textarea","advanced":true}],
	"output_sections":[{"key":"total","label":"To pay","type":"summary"},{"key":"days","label":"Parcels","type":"chart"}],
	"execution":{"timeout_s":20,"is_pure":true}}`

// quoteParcels executes [quote].
func quoteParcels(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	for range 3 {
		tool.AppendOutput(ctx, "weighing\n")
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(700 * time.Millisecond):
		}
	}
	return tool.JSONResult(json.RawMessage(`{"echo":` + string(call.Arguments) + `,"total":{"net":21,"gross":28},` +
		`"days":[{"day":"Mon","parcels":3},{"day":"Tue","parcels":5}]}`)), nil
}

func (s *site) apply(t *testing.T, definitions ...string) {
	t.Helper()
	all := make([]json.RawMessage, len(definitions))
	for i, d := range definitions {
		all[i] = json.RawMessage(d)
	}
	s.post(t, "/v1/apply", v1.Apply{Definitions: all})
}

// picture writes what is seen into a file, for those who work on the pages.
func (v *visitor) picture(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("TOOLCRIB_PICTURES")
	if folder == "" {
		return
	}
	var raw []byte
	v.do(t, chromedp.Sleep(200*time.Millisecond), chromedp.FullScreenshot(&raw, 100))
	require.NoError(t, os.WriteFile(folder+"/"+name+".png", raw, 0o600))
}

func (v *visitor) size(t *testing.T, width, height int64, scheme string) {
	t.Helper()
	v.do(t, emulation.SetDeviceMetricsOverride(width, height, 1, false), emulation.SetEmulatedMedia().
		WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

const fillIn = `((label, text) => {
	const at = [...document.querySelectorAll(".f-form label")].find((l) => l.innerText.startsWith(label));
	const input = document.getElementById(at.htmlFor);
	const proto = input.tagName === "TEXTAREA" ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
	Object.getOwnPropertyDescriptor(proto, "value").set.call(input, text);
	input.dispatchEvent(new Event("input", {bubbles: true}));
	return true;
})`

func (v *visitor) enter(t *testing.T, label, text string) {
	t.Helper()
	raw, err := json.Marshal([]string{label, text})
	require.NoError(t, err)
	v.do(t, until(`document.querySelector(".f-form")`), chromedp.Evaluate(fillIn+"(..."+string(raw)+")", nil))
}

// A person calls a tool with its form: digits arrive as they were written, what the tool says is shown while it works,
// what was refused is said beside the field, and coercion is on the receipt.
func TestAPersonTestsATool(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.apply(t, strings.ReplaceAll(quote, "%SLUG%", "quoteParcels"))
	v.size(t, 1280, 900, "light")
	v.open(t, "/tools/quoteParcels?tab=test")
	v.enter(t, "Order", "9223372036854775807")
	v.enter(t, "Rate", "1.10")
	v.enter(t, "Pieces", "500")
	v.picture(t, "form")
	const run = `.t-send .primary`
	v.do(t, click(run), until(`document.querySelector(".f-summary")`))
	v.picture(t, "refused")
	v.do(t, until(`document.querySelector(".f-summary a").innerText.startsWith("Pieces: expected a number of at most 100")`),
		click(".f-summary a"),
		until(`document.activeElement.getAttribute("aria-invalid") === "true" && document.activeElement.value === "500"`))

	v.enter(t, "Pieces", "7")
	v.do(t, until(`!document.querySelector(".f-number[aria-invalid]")`),
		click(`.f-chips label:nth-child(2)`), click(run),
		until(`document.querySelector(".t-chunks")?.innerText.includes("weighing")`),
		until(`document.querySelector(".t-output .o-output")`))
	v.do(t, click(`.o-output > details > summary`), // What no section shows is folded.
		until(`document.querySelector(".t-output").innerText.includes("9223372036854775807")`),
		until(`document.querySelector(".o-stats").innerText.includes("28")`), until(`document.querySelector("svg.o-chart")`),
		click(".o-tools button"),
		until(`document.querySelector(".o-output .json").innerText.includes("1.10")`))
	v.picture(t, "answered")

	// The same value as JSON, in which a text stands for a number.
	v.do(t, click(`.t-input .buckets button:nth-child(3)`),
		until(`document.querySelector(".cm-content")?.innerText.includes("9223372036854775807")`),
		until(`document.querySelector(".cm-content").innerText.includes("1.10")`),
		focus(".cm-content"),
		chromedp.KeyEvent("a", chromedp.KeyModifiers(input.ModifierCtrl)),
		input.InsertText(`{"id": 9223372036854775807, "pieces": "5"}`),
		click(run), until(`document.querySelector(".t-receipt")`),
		until(`document.querySelector(".t-receipt").innerText.includes("a text became a number")`),
		until(`document.querySelector(".t-receipt").innerText.includes("/pieces")`))
	v.picture(t, "receipt")

	// The record of the call shows the same sections.
	v.do(t, click(`//section[@aria-label="Output"]//a[.="Call and trace"]`),
		until(`document.querySelector("aside .o-stats")?.innerText.includes("28")`), until(`document.querySelector("aside svg.o-chart")`))
	v.picture(t, "drawer")
	v.blameless(t)
}

// To type in one field of 250 renders that one: the others keep the properties that they were rendered with.
func TestTypingRendersOneField(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/tools/wideForm?tab=test")
	const props = `[...document.querySelectorAll(".f-form input")].map((i) => i[Object.keys(i).find((k) => k.startsWith("__reactProps"))])`
	v.do(t, until(`document.querySelectorAll(".f-form input").length === 250`),
		chromedp.Evaluate(`(window.before = `+props+`, true)`, nil))
	v.enter(t, "Field 100", "x")
	v.do(t, until(props+`[100].value === "x"`))
	var changed []int
	v.do(t, chromedp.Evaluate(props+`.flatMap((p, i) => p === window.before[i] ? [] : [i])`, &changed))
	require.Equal(t, []int{100}, changed)
	v.blameless(t)
}

func (s *site) formPages() []string {
	return []string{
		"/tools/everyField?tab=test", "/tools/everyField?tab=test&as=json", "/tools/everyField?tab=input",
		"/tools/countStock?tab=test&mode=production", "/tools/missing?tab=test", "/tools/everyField?tab=test&as=embed",
		"/tools/shipBooks?tab=test", "/tools/shipBooks?tab=input",
	}
}

func (s *site) fillForms(t *testing.T) {
	t.Helper()
	wide := make([]string, 250)
	for i := range wide {
		wide[i] = fmt.Sprintf(`{"key":"f%03d","label":"Field %d","type":"text"}`, i, i)
	}
	s.apply(t,
		`{"kind":"tool","slug":"wideForm","implementation_type":"internal","input_fields":[`+strings.Join(wide, ",")+`]}`,
		`{"kind":"tool","slug":"everyField","description":"Takes everything.","implementation_type":"internal","input_fields":[`+
			everyField()+`,{"key":"more","type":"text","advanced":true},{"key":"apart","type":"text","section":"Apart"}]}`,
		strings.ReplaceAll(shipping, "%SLUG%", "shipBooks"),
		`{"kind":"tool","slug":"linkDeals","description":"Links deals.","implementation_type":"internal","input_schema":{"type":"object",
			"additionalProperties":false,"properties":{"deal":{"type":"string","x-entity-type":"opportunity"},
			"main":{"type":"string","x-entity-type":"tool"},
			"others":{"type":"array","items":{"type":"string"},"x-entity-type":"tool","x-entity-select":"multiple"}}}}`)
}

// everyField has a field of each type and display.
func everyField() string {
	more := map[field.Type]string{
		field.Enum: `,"options":["a",{"value":2,"label":"Two"},true]`, field.Relation: `,"entity_type":"tool"`,
		field.Media: `,"accept":["image/*"]`, field.Upload: `,"max_bytes":1000,"multiple":true`,
	}
	var out []string
	for _, t := range field.Types() {
		for i, d := range field.Displays(t) {
			extra := more[t]
			switch d { //nolint:exhaustive // The others need nothing.
			case field.Slider:
				extra = `,"min":0,"max":10`
			case field.Rating:
				extra = `,"max":5`
			case field.Group:
				extra = `,"fields":[{"key":"x","type":"number","nullable":true,"required":true}],"default":{"x":1.10}`
			case field.Map, field.List:
				extra = `,"items":{"type":"text"}`
			case field.Tags:
				extra = `,"items":{"type":"text"},"default":["one","two"]`
			case field.Table:
				extra = `,"items":{"type":"object","display":"group","fields":[{"key":"x","type":"text"},{"key":"y","type":"boolean"}]},` +
					`"default":[{"x":"one"},{"y":true}]`
			}
			out = append(out, fmt.Sprintf(`{"key":"%s%d","type":%q,"display":%q,"required":%t,"description":"As %s."%s}`,
				t, i, t, d, i == 0 && t != field.Upload, d, extra))
		}
	}
	return strings.Join(out, ",")
}

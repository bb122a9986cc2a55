package tool_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// A tool that a client shows and nobody waits for: its default result is the
// answer.
func ExampleClientTool() {
	chart := tool.ClientTool{
		Name: "renderChart", Description: "Shows a chart to the user.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"type": {"type":"string","enum":["line","bar","pie"],"description":"Chart type"},
			"data": {"type":"array","items":{"type":"object","properties":{"label":{"type":"string"},"value":{"type":"number"}},"required":["label","value"]}}
		},"required":["type","data"]}`),
		Intent:        tool.Render,
		DefaultResult: json.RawMessage(`[{"type":"text","text":"[Chart rendered]"}]`),
	}.Definition()
	fmt.Println(chart.Implementation, chart.Interaction.Purpose())
	fmt.Println("waits:", chart.Interaction.RequiresResponse, string(chart.Interaction.DefaultResult))
	// Output:
	// client render
	// waits: false [{"type":"text","text":"[Chart rendered]"}]
}

// A form that a client shows and whose answer is waited for.
func ExampleClientTool_form() {
	form := tool.ClientTool{
		Name: "askUserInfo", Description: "Asks the user for information by a form.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"fields":{"type":"array","items":{"type":"object"}}},"required":["fields"]}`),
		Intent:      tool.Render, RequiresResponse: true, Timeout: 2 * time.Minute,
	}.Definition()
	fmt.Println(form.Implementation, form.Interaction.RequiresResponse,
		form.Execution.Timeout())
	// Output: client true 2m0s
}

// An answer is read into a type; the answer "no" is an error with its text.
func ExampleResult_Decode() {
	var order struct{ Total int }
	answered := tool.JSONResult(json.RawMessage(`{"total": 120}`))
	fmt.Println(answered.Decode(&order), order.Total)
	fmt.Println(tool.AsError(tool.ErrorResult("no such order").Decode(&order)).Msg)
	// Output:
	// <nil> 120
	// no such order
}

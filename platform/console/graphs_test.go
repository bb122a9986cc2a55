package console_test

import (
	"encoding/json"
	"testing"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
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
		"/agents/new", "/agents/new?tab=tools", "/agents/stockClerk", "/agents/stockClerk?tab=tools&shown=lookUp01&bucket=custom",
		"/agents/stockClerk?tab=tools&search=nothing-is-called-so", "/agents/stockClerk?tab=versions", "/agents/stockClerk?tab=runs",
		"/agents/missing", "/agents?search=nothing-is-called-so", "/tools/checkOrders?tab=graph",
		"/tools/checkOrders?tab=graph&show=table&node=each/track", "/tools/checkOrders?tab=graph&from=1.0.0&node=look",
		"/tools/lookTwice?tab=graph", "/graphs/new", "/tools/checkOrders/graph/edit", "/tools/checkOrders/graph/edit?node=judge",
		"/tools/checkOrders/graph/edit?node=each&show=table", "/tools/lookTwice/graph/edit?node=again", "/tools/refundOrder/graph/edit",
	}
}

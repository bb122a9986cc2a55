package fuzz_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// known makes values for fields whose schema says nothing of what they mean:
// definitions, arguments, references. It is all that the fuzzer knows of the
// domain; the rest it learns from answers.
func (w writer) known(name string, depth int) (any, bool) {
	switch name {
	case "definitions":
		if depth > 1 {
			return w.definition(), true
		}
		return nil, false
	case "definition", "spec":
		return w.definition(), true
	case "arguments":
		return one(w.dice, []any{
			map[string]any{},
			map[string]any{"say": "hello"},
			map[string]any{"operation": "now"},
			map[string]any{"say": 7},
			map[string]any{"n": json.Number("1e2")},
		}), true
	case "input":
		return one(w.dice, []any{"go", map[string]any{"text": "go"}, "go", []any{1}}), true
	case "wait_s":
		return one(w.dice, []any{0, 0.05, 1, 1}), true
	case "permissions", "scopes":
		if depth > 1 {
			return one(w.dice, []any{"tools.read", "runs.read", "runs.write", "*", "tools.write"}), true
		}
		return nil, false
	case "agent":
		return w.named("agents", "talker")
	case "tool":
		return w.named("tools", "echoIt")
	case "run":
		return w.named("runs", "none")
	case "version", "from", "to":
		if w.chance(60) {
			return w.had("version")
		}
		return fmt.Sprintf("%d.%d.%d", 1+w.IntN(3), w.IntN(4), w.IntN(30)), true
	case "new_version":
		return fmt.Sprintf("%d.%d.%d", 1+w.IntN(9), w.IntN(4), w.IntN(30)), true
	case "Last-Event-ID", "after":
		return one(w.dice, []any{0, 1, 3, 100}), true
	case "cursor", "after_cursor":
		return w.had("next")
	case "Idempotency-Key":
		return fmt.Sprintf("key-%x", w.Uint64N(1<<40)), true
	case "expires_at":
		return "2030-01-01T00:00:00Z", true
	}
	if w.chance(30) {
		return w.had(name)
	}
	return nil, false
}

func (w writer) named(noun, otherwise string) (any, bool) {
	names := w.pool.of(string(w.who.tenant), noun)
	if len(names) == 0 {
		return otherwise, true
	}
	return w.recent(names), true
}

// recent is one of the names, more often than not one of the last.
func (d dice) recent(names []string) string {
	if len(names) > 4 && d.chance(50) {
		names = names[len(names)-4:]
	}
	return one(d, names)
}

func (w writer) had(name string) (any, bool) {
	values := w.pool.had(string(w.who.tenant), name)
	if len(values) == 0 {
		return nil, false
	}
	return one(w.dice, values), true
}

// seeds are definitions to begin with. Each tenant has them all.
var seeds = []string{
	`{"kind":"tool","slug":"echoIt","description":"Echoes.","implementation_type":"function","implementation_config":{"function_name":"echo"},
	  "execution":{"is_pure":true,"timeout_s":5},"version":"1.0.0","publish":true}`,
	`{"kind":"tool","slug":"noteIt","description":"Notes.","implementation_type":"function","implementation_config":{"function_name":"note"},
	  "input_schema":{"type":"object","properties":{"say":{"type":"string"}}},"execution":{"timeout_s":5},"version":"1.0.0","publish":true}`,
	`{"kind":"tool","slug":"dawdleIt","description":"Takes its time.","implementation_type":"function","implementation_config":{"function_name":"dawdle"},
	  "execution":{"is_pure":true,"timeout_s":5},"version":"1.0.0","publish":true}`,
	`{"kind":"tool","slug":"sayIt","description":"Says.","implementation_type":"internal","version":"1.0.0","publish":true,
	  "input_schema":{"type":"object","properties":{"say":{"type":"string"}},"required":["say"]}}`,
	`{"kind":"tool","slug":"fetchIt","description":"Fetches.","implementation_type":"http","egress_class":"read_only",
	  "implementation_config":{"url":"http://127.0.0.1:1/{id}"},"execution":{"is_pure":true,"timeout_s":1,"max_attempts":1},"version":"1.0.0"}`,
	`{"kind":"tool","slug":"odd","description":"Holds a secret.","implementation_type":"custom",
	  "implementation_config":{"executor":"odd","api_key":"` + plantedSecret + `","nested":{"password":["` +
		plantedSecret + `"]}}}`,
	`{"kind":"tool","slug":"vault","implementation_type":"internal","version":"1.0.0","publish":true,"required_permission":"vault.open"}`,
	`{"kind":"mcp_server","slug":"files","server_url":"https://files.example.com/mcp","allowed_tools":["*"],"headers":{"X-Team":"shop"}}`,
	`{"kind":"agent","slug":"talker","instructions":"Talk.","model":"scripted/talk","version":"1.0.0","publish":true,"tools":["echoIt"]}`,
	`{"kind":"agent","slug":"waiter","instructions":"Wait.","model":"scripted/wait","version":"1.0.0","publish":true,"tools":["dawdleIt"]}`,
}

// definition is one of the seeds, most often with something changed.
func (w writer) definition() any {
	var d map[string]any
	if err := json.Unmarshal([]byte(one(w.dice, seeds)), &d); err != nil {
		panic(err)
	}
	if w.chance(50) {
		d["slug"] = text(d["slug"]) + strings.Repeat("X", 1+w.IntN(4))
	}
	if w.chance(50) {
		d["version"] = fmt.Sprintf("%d.%d.%d", 1+w.IntN(3), w.IntN(4), w.IntN(30))
		d["description"] = fmt.Sprint("Changed ", w.IntN(1000))
	}
	if w.chance(30) {
		d["publish"] = w.chance(70)
	}
	for w.chance(w.worst) {
		name := one(
			w.dice,
			append(sorted(d), "input_schema", "output_schema", "execution", "limits", "tools", "revision", "timeout",
				"tool_mode", w.nasty()),
		)
		d[name] = w.wrong(node{}, 3)
		if w.chance(30) {
			d[name] = one(w.dice, []any{
				map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"$ref": "#"}}},
				map[string]any{"$ref": "http://127.0.0.1:1/schema.json"},
				map[string]any{"type": "objekt"},
				map[string]any{"enum": []any{}},
				map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"pattern": "(a+)+$"}}},
				map[string]any{"timeout_s": -1, "max_attempts": 1 << 40},
				[]any{"echoIt", "echoIt"},
				[]any{"echoIt@^1", "odd", "nothing"},
			})
		}
	}
	return d
}

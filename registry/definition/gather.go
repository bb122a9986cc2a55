package definition

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// gather moves top-level fields into execution and interaction, and the HTTP
// fields of an execution with a URL into implementation_config.
func gather(doc object) error {
	execution, err := inner(doc, "execution")
	if err != nil {
		return err
	}
	interaction, err := inner(doc, "interaction")
	if err != nil {
		return err
	}
	if execution["url"] != nil {
		config, err := inner(doc, "implementation_config")
		if err != nil {
			return err
		}
		for _, name := range []string{"url", "method", "headers", "body", "query", "auth"} {
			if err := execution.move(name, config, name); err != nil {
				return refusal.Within("/execution", err)
			}
		}
		if err := doc.put("implementation_config", config); err != nil {
			return err
		}
	}
	if err := milliseconds(doc, execution); err != nil {
		return err
	}
	for _, name := range executionFields {
		if err := doc.move(name, execution, name); err != nil {
			return err
		}
	}
	for _, name := range interactionFields {
		if err := doc.move(name, interaction, name); err != nil {
			return err
		}
	}
	if string(doc["implementation_type"]) == `"`+string(tool.Client)+`"` {
		respond(interaction)
	}
	return refusal.First(doc.put("execution", execution), doc.put("interaction", interaction))
}

// inner removes a nested object from doc and returns it; empty when absent.
func inner(doc object, name string) (object, error) {
	raw, ok := doc[name]
	if !ok {
		return make(object), nil
	}
	delete(doc, name)
	if name == "implementation_config" { // The executor defines its names.
		var config object
		if err := json.Unmarshal(raw, &config); err != nil {
			return nil, refusal.New(tool.Invalid, "/"+name, "expected an object")
		}
		return config, nil
	}
	return readObject("/"+name, raw)
}

// respond gives a client tool that says it requires no response, and has no default result,
// one: else its calls would wait for a response (checklist S4-18).
func respond(interaction object) {
	if string(interaction["requires_response"]) == "false" && interaction["default_result"] == nil {
		interaction["default_result"] = json.RawMessage(`{"success":true}`)
	}
}

// milliseconds turns a timeout in milliseconds into seconds.
func milliseconds(doc, execution object) error {
	for _, name := range []string{"timeout", "timeout_ms"} {
		var ms float64
		if doc[name] == nil {
			continue
		}
		if err := take(doc, name, &ms); err != nil {
			return err
		}
		if ms < 0 || execution["timeout_s"] != nil || doc["timeout_s"] != nil {
			return refusal.New(tool.Invalid, "/"+name,
				"expected a timeout once, in milliseconds as %s or in seconds as timeout_s",
				name)
		}
		raw, err := json.Marshal(math.Round(ms) / 1000)
		if err != nil {
			return refusal.New(tool.Invalid, "/"+name, "expected a number of milliseconds")
		}
		execution["timeout_s"] = raw
	}
	return nil
}

func keys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

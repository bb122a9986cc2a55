package definition

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// rowFields are fields of stored rows; in a definition they are ignored.
var rowFields = []string{
	"id", "tenant_id", "created_at", "updated_at", "published_at", "tool_type", "digest",
	"builtin_template_id", "is_builtin_template", "artifact", "reads_declared",
}

// synonyms lists other names of top-level fields.
var synonyms = []struct{ from, to string }{
	{"key", "slug"},
	{"input", "input_schema"},
	{"parameters", "input_schema"},
	{"output", "output_schema"},
	{"config", "implementation_config"},
	{"execution_config", "execution"},
	{"requires_confirmation", "always_ask"},
	{"active", "is_active"},
}

// executionFields and interactionFields may stand at the top of a definition.
var (
	executionFields = []string{
		"is_pure", "idempotent", "concurrency_group", "max_concurrency", "tenant_max_concurrency",
		"timeout_s", "max_attempts", "lane", "inline_bytes", "trust",
	}
	interactionFields = []string{
		"visible", "visibility", "risk", "confirmation", "is_async", "intent", "audience", "aliases", "former_names",
		"open_input",
		"requires_response", "default_result",
		"collaborative", "aggregate", "output_sections", "annotations", "provider_options", "middleware",
	}
)

func parseTool(doc object) (*ToolSpec, error) {
	if err := unpack(doc); err != nil {
		return nil, err
	}
	for _, r := range synonyms {
		if err := doc.move(r.from, doc, r.to); err != nil {
			return nil, err
		}
	}
	if err := parseFields(doc); err != nil {
		return nil, err
	}
	if err := parseConfirmation(doc); err != nil {
		return nil, err
	}
	if doc["slug"] == nil && doc["name"] != nil { // Some systems have a name only.
		doc["slug"] = doc["name"]
	}
	if err := parseTypes(doc); err != nil {
		return nil, err
	}
	if err := refusal.First(gather(doc), doc.nested("egress_rules")); err != nil {
		return nil, err
	}
	var ask bool
	if err := take(doc, "always_ask", &ask); err != nil {
		return nil, refusal.Within(
			"/requires_confirmation",
			refusal.New(tool.Invalid, "", "expected true, false, or a condition in CEL such as \"input.amount > 100\""),
		)
	}
	doc.drop(rowFields...)
	var s ToolSpec
	if err := doc.into("", &s); err != nil {
		return nil, err
	}
	if ask { // The stricter of both fields wins.
		s.PermissionPolicy = tool.PermissionAlwaysAsk
	}
	return &s, nil
}

// parseConfirmation moves a condition in requires_confirmation, and a confirmation_message, to
// confirmation (checklist S4-39, S4-40).
func parseConfirmation(doc object) error {
	condition := len(doc["always_ask"]) > 0 && doc["always_ask"][0] == '"'
	message := doc["confirmation_message"]
	if !condition && message == nil {
		return nil
	}
	confirmation, err := inner(doc, "confirmation")
	if err != nil {
		return err
	}
	if condition {
		if err := doc.move("always_ask", confirmation, "when"); err != nil {
			return refusal.Within("/requires_confirmation", err)
		}
	} else if string(doc["always_ask"]) != "true" && len(confirmation) == 0 {
		return refusal.New(tool.Invalid, "/confirmation_message",
			"expected requires_confirmation beside it: no call of the tool is to be confirmed")
	}
	if message != nil {
		if err := doc.move("confirmation_message", confirmation, "message"); err != nil {
			return err
		}
	}
	return doc.put("confirmation", confirmation)
}

// unpack moves the members of schema {input, output} and config_schema
// {implementation, execution} to the top level.
func unpack(doc object) error {
	for _, nest := range []struct {
		name   string
		fields map[string]string
	}{
		{
			"schema",
			map[string]string{
				"input": "input_schema", "inputs": "input_schema", "output": "output_schema", "outputs": "output_schema",
			},
		},
		{"config_schema", map[string]string{"implementation": "implementation_config", "execution": "execution"}},
	} {
		raw, ok := doc[nest.name]
		if !ok {
			continue
		}
		delete(doc, nest.name)
		inner, err := readObject("/"+nest.name, raw)
		if err != nil {
			return err
		}
		for name := range inner {
			to, known := nest.fields[name]
			if !known {
				return unknownField("/"+nest.name, name, keys(nest.fields))
			}
			if err := inner.move(name, doc, to); err != nil {
				return refusal.Within("/"+nest.name, err)
			}
		}
	}
	return nil
}

// parseTypes translates execution_type and type to implementation_type.
func parseTypes(doc object) error {
	var execution, kind string
	if err := refusal.First(take(doc, "execution_type", &execution), take(doc, "type", &kind)); err != nil {
		return err
	}
	impl, ok := map[string]tool.Implementation{
		"": "", "gateway": tool.HTTP, "external": tool.Client, "space": tool.Client, "internal": tool.Internal,
		"server": tool.Function, "client": tool.Client, "provider": tool.Provider, "mcp": tool.MCP,
	}[strings.ToLower(execution+kind)]
	if !ok || execution != "" && kind != "" {
		return refusal.New(
			tool.Invalid, "/execution_type",
			"execution type %.40q: expected gateway, external, space or internal, or a type of server, client, provider or mcp",
			execution+kind,
		)
	}
	if impl != "" && doc["implementation_type"] == nil {
		doc["implementation_type"] = json.RawMessage(`"` + impl + `"`)
	}
	return parseMCP(doc)
}

// parseMCP moves mcp_config to implementation_config.
func parseMCP(doc object) error {
	raw, ok := doc["mcp_config"]
	if !ok {
		return nil
	}
	delete(doc, "mcp_config")
	inner, err := readObject("/mcp_config", raw)
	if err != nil {
		return err
	}
	inner.drop("server_name")
	if string(inner["transport"]) == `"http"` { // A synonym of the default.
		inner.drop("transport")
	}
	if inner["tool_name"] == nil {
		inner["tool_name"] = doc["slug"]
	}
	if doc["implementation_config"] != nil {
		return refusal.New(tool.Invalid, "/mcp_config", "expected either mcp_config or implementation_config")
	}
	return doc.put("implementation_config", inner)
}

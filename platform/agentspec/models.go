package agentspec

import (
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// providers are the names of model providers by the type of a model's configuration.
var providers = map[string]string{
	"OpenAiConfig": "openai", "OllamaConfig": "ollama", "VllmConfig": "vllm", "OpenAiCompatibleConfig": "compatible",
	"AnthropicConfig": "anthropic", "GeminiConfig": "gemini", "OciGenAiConfig": "oci", "LiteLlmConfig": "litellm",
}

// model returns the model of an agent or a prompt, and its options.
func (im *importer) model(c *component) (name string, options map[string]any) {
	m := im.below(c, "llm_config")
	if m == nil {
		return im.in.Model, nil
	}
	if given, ok := m.object("default_generation_parameters")["extra_args"]; ok && given != nil {
		im.lose(m.path+"/default_generation_parameters/extra_args", Dropped,
			"set what of them a provider knows as model_options")
	}
	options = map[string]any{}
	for _, option := range []string{"temperature", "top_p", "max_tokens"} {
		if v := m.object("default_generation_parameters")[option]; v != nil {
			options[option] = v
		}
	}
	if len(options) == 0 {
		options = nil
	}
	switch provider := providers[m.kind()]; {
	case im.in.Model != "":
		name = im.in.Model
	case m.own()["model"] != nil:
		name = plain(m.own()["model"])
	case provider == "" || m.text("model_id") == "":
		im.fault(m.path, "the model %.80q of type %.80q has no counterpart: give the one to use instead (--model)",
			m.text("name"), m.kind())
	default:
		name = provider + "/" + m.text("model_id")
		if m.text("url") != "" {
			im.lose(m.path+"/url", Dropped, "workers know where the provider %q is: see docs/models.md", provider)
		}
	}
	if name != "" && !strings.Contains(name, "/") {
		im.fault(m.path, "the model %.80q has no provider: want provider/name, such as openai/gpt-4.1-mini", name)
	}
	return name, options
}

// prompt makes a prompt tool of an LlmNode.
func (im *importer) prompt(n *nodeSpec) string {
	slug, fresh := im.claim(n.component, "prompt")
	if !fresh {
		return slug
	}
	model, options := im.model(n.component)
	template := placeholder.ReplaceAllString(n.text("prompt_template"), "{{$1}}")
	config := map[string]any{"mode": "direct", "model": model, "prompt_template": template}
	if options != nil {
		config["model_options"] = options
	}
	d := definition{
		Kind: "tool", Slug: slug, Implementation: string(tool.Prompt), Config: config,
		EgressClass: string(tool.EgressReadOnly), InputSchema: objectSchema(n.inputs, true),
	}
	if textual(n.outputs) {
		config["output"] = "text"
	} else {
		config["output"] = "json"
		d.OutputSchema = objectSchema(n.outputs, false)
	}
	im.add(n.component, d)
	return slug
}

// agent makes an agent, and returns its slug.
func (im *importer) agent(c *component) string {
	if c.kind() != "Agent" {
		im.fault(c.path+"/"+keyType, "a %.80q has no counterpart: want an Agent", c.kind())
		return "agent"
	}
	slug, fresh := im.claim(c, "agent")
	if !fresh {
		return slug
	}
	im.depth++
	defer func() { im.depth-- }()
	if given, ok := c.own()["agent"].(string); ok { // One of the server it was exported from.
		if ref, err := tool.ParseRef(given); err == nil {
			im.made[c.path] = ref.Slug
			im.lose(c.path, Needed, "the agent %q", given)
			return ref.Slug
		}
	}
	d := definition{Kind: "agent", Slug: slug}
	var options map[string]any
	if d.Model, options = im.model(c); options != nil {
		d.ModelOptions = options
	}
	prompt := c.text("system_prompt")
	if placeholder.MatchString(prompt) {
		im.lose(c.path+"/system_prompt", Changed,
			"instructions have no placeholders: the values are in the message to the agent")
		prompt = placeholder.ReplaceAllString(prompt, `"$1" of the message`)
	}
	d.Instructions = prompt
	if d.Instructions == "" {
		d.Instructions = "Do what the message asks for."
	}
	for _, t := range im.list(c, "tools") {
		d.Tools = append(d.Tools, im.tool(t))
	}
	for _, name := range []string{"toolboxes", "transforms"} {
		if items, ok := c.fields[name].([]any); ok && len(items) > 0 {
			im.lose(c.path+"/"+name, Dropped, "agents have no %s: name their tools in the agent", name)
		}
	}
	if outputs, _ := im.properties(c, "outputs"); len(outputs) > 0 {
		d.OutputSchema = objectSchema(outputs, false)
	}
	im.add(c, d)
	return slug
}

package quality

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of a description.
const (
	leastWords     = 4
	mostCharacters = 1500
	namedArguments = 5 // Of a finding.
)

var (
	saysWhen = regexp.MustCompile(
		`(?i)\b(use|call|choose|prefer)\b|\bwhen(ever)?\b|\bbefore\b|\bafter\b|\bto (find|answer|get|check|see)\b`)
	saysWhenNot = regexp.MustCompile(`(?i)\b(not|never|don't|only|instead|rather|unless|except|without)\b`)
)

// orders are texts that tell a model what to do beside calling the tool. A description is data.
var orders = []struct {
	pattern *regexp.Regexp
	what    string
}{
	{regexp.MustCompile(`(?i)\b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|prompt|rule|polic|guardrail)`), "asks to ignore instructions"},
	{regexp.MustCompile(`(?i)\b(system|developer) (prompt|message)\b`), "speaks of the system prompt"},
	{regexp.MustCompile(`(?i)\b(do not|don't|never) (tell|mention|reveal|inform|show)\b.{0,30}\b(user|person|anyone|human)`), "asks to hide something from people"},
	{regexp.MustCompile(`(?i)\b(always|must) (call|use|run|invoke) this( tool)? (first|before (any|every|all))`), "asks to be called before others"},
	{regexp.MustCompile(`(?i)\byou (are|act as)( now)? (a|an|the)\b`), "gives the model a role"},
	{regexp.MustCompile(`(?i)</?\s*(system|assistant|user|instructions?|important)\s*>|\[/?INST\]|<\|im_(start|end)\|>`), "has marks of a prompt"},
	{regexp.MustCompile(`(?i)\b(send|post|include|copy|pass)\b.{0,40}\b(api[ _-]?key|password|credential|secret|conversation|chat history)`), "asks for secrets or the conversation"},
}

// description checks what a model is told about a tool, and about its arguments.
func description(s *Subject) []Finding {
	var out []Finding
	text := strings.TrimSpace(s.Description)
	const at = "/description"
	switch count := len([]rune(text)); {
	case text == "":
		out = append(out, Finding{
			DescriptionMissing, at, "there is no description: say what the tool does, when to use it and when not",
		})
	case len(strings.Fields(text)) < leastWords:
		out = append(out, Finding{
			DescriptionShort, at, fmt.Sprintf("%q does not say what the tool does: write a sentence", text),
		})
	case count > mostCharacters:
		out = append(out, Finding{DescriptionLong, at, fmt.Sprintf(
			"the description has %d characters, which each request of a model pays for: keep it within %d", count,
			mostCharacters)})
	}
	if text != "" && !saysWhen.MatchString(text) {
		out = append(out, Finding{
			DescriptionWhen, at, `the description does not say when to use the tool: add a sentence that begins with "Use it"`,
		})
	}
	if text != "" && changes(s) && !saysWhenNot.MatchString(text) {
		out = append(out, Finding{
			DescriptionWhenNot, at, "the tool changes something: say when not to use it, or what to try first",
		})
	}
	out = append(out, injected(at, s.Description)...)
	out = append(out, injected("/name", s.Name)...)
	for _, a := range arguments(s.InputSchema) {
		out = append(out, injected(a.path+"/description", a.description)...)
	}
	return out
}

// injected checks a text for orders to the model, and for text that people do not see.
func injected(at, text string) []Finding {
	for _, o := range orders {
		if found := o.pattern.FindString(text); found != "" {
			return []Finding{{DescriptionInjection, at, fmt.Sprintf(
				"it %s (%.60q): say what the tool does, and nothing else", o.what, found)}}
		}
	}
	if i := strings.IndexFunc(text, hidden); i >= 0 {
		return []Finding{{DescriptionInjection, at, fmt.Sprintf("it has a character at byte %d that people do not see", i)}}
	}
	return nil
}

// hidden reports whether a character shows nothing, and so may hide text from people.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\r', '\u00AD', '\u200C', '\u200D':
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r >= 0xE0000 && r <= 0xE0FFF
}

// argument is a property at the top of an input schema.
type argument struct {
	name, path, description string
	described               bool
	enum                    []string
}

// arguments lists the properties at the top of an input schema, by name.
func arguments(raw json.RawMessage) []argument {
	var read struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(raw, &read) != nil {
		return nil
	}
	var out []argument
	for _, name := range slices.Sorted(maps.Keys(read.Properties)) {
		a := argument{name: name, path: "/input_schema/properties/" + jsonpointer.Escape(name)}
		var p struct {
			Title       string `json:"title"`
			Description string `json:"description"`
			Enum        []any  `json:"enum"`
		}
		if json.Unmarshal(read.Properties[name], &p) == nil {
			a.description, a.described = p.Description, p.Title != "" || p.Description != ""
			for _, v := range p.Enum {
				if text, ok := v.(string); ok {
					a.enum = append(a.enum, text)
				}
			}
		}
		out = append(out, a)
	}
	return out
}

// givenSchemas are the types whose tools get an input schema without one of their own: when they are saved, or from
// the provider that runs them.
var givenSchemas = []tool.Implementation{
	tool.RAGRetrieval, tool.AgentCall, tool.Prompt, tool.Input, tool.Provider, tool.MCP,
}

// inputs checks that there is an input schema, and that arguments are described.
func inputs(s *Subject) []Finding {
	configured := s.ImplementationType() == tool.Internal && len(s.Config) > 0 // By a built-in, which has a schema.
	if len(s.InputSchema) == 0 && !configured && !s.Interaction.OpenInput &&
		!slices.Contains(givenSchemas, s.ImplementationType()) {
		return []Finding{{
			InputMissing, "/input_schema", "there is no input schema, so that a model guesses the arguments: write one, " +
				`{"type":"object","additionalProperties":false} where there are none, or declare "open_input": true`,
		}}
	}
	var names []string
	first := ""
	for _, a := range arguments(s.InputSchema) {
		if !a.described {
			first = cmp.Or(first, a.path)
			names = append(names, a.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	shown := strings.Join(names[:min(len(names), namedArguments)], ", ")
	if more := len(names) - namedArguments; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return []Finding{{InputUndescribed, first, "say what these arguments are: " + shown}}
}

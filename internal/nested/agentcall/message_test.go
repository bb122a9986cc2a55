package agentcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/tool"
)

func parse(t *testing.T, raw string) *agentcall.Config {
	t.Helper()
	c, err := agentcall.ParseConfig(tool.AgentCall, json.RawMessage(raw))
	require.NoError(t, err)
	return c
}

func TestMessage(t *testing.T) {
	t.Parallel()

	text, object := tool.Text, func(s string) tool.Content { return tool.JSON(json.RawMessage(s)) }
	tests := []struct {
		name, config, arguments string
		want                    []tool.Content
		input                   string
	}{
		{"Prompt", ``, `{"prompt":"Find it"}`, []tool.Content{text("Find it")}, `"Find it"`},
		{"Text", ``, `{"text":"Find it"}`, []tool.Content{text("Find it")}, `"Find it"`},
		{"Input", ``, `{"input":"Find it"}`, []tool.Content{text("Find it")}, `"Find it"`},
		{"InputThatIsNoText", ``, `{"input":{"sku":7}}`, []tool.Content{object(`{"sku":7}`)}, `{"input":{"sku":7}}`},
		{
			"Context", ``, `{"context":{"order":1.0},"text":"Find it"}`,
			[]tool.Content{text("Find it"), object(`{"context":{"order":1.0}}`)},
			`{"context":{"order":1.0},"text":"Find it"}`,
		},
		{
			"Messages", ``,
			`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"text","text":"Yes?"},{"type":"image","url":"x"}]}]}`,
			[]tool.Content{text("user: Hi\n\nassistant: Yes?\n{\"type\":\"image\",\"url\":\"x\"}")},
			`"user: Hi\n\nassistant: Yes?\n{\"type\":\"image\",\"url\":\"x\"}"`,
		},
		{"NullIsNothing", ``, `{"prompt":"Find it","context":null}`, []tool.Content{text("Find it")}, `"Find it"`},
		{
			"OwnSchema", ``, `{"code":"x := 1","context":{}}`,
			[]tool.Content{object(`{"code":"x := 1","context":{}}`)},
			`{"code":"x := 1","context":{}}`,
		},
		{"NoArguments", ``, ``, []tool.Content{object(`{}`)}, `{}`},
		{
			"Template", `"prompt_template":"Find {{n}} of {{/o/sku}}",`, `{"n":2,"o":{"sku":"A"}}`,
			[]tool.Content{text("Find 2 of A")},
			`"Find 2 of A"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, input, err := parse(t, `{`+tt.config+`"agent":"research"}`).Message(json.RawMessage(tt.arguments))
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.input, string(input))
		})
	}
}

func TestMessageRefuses(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", agentcall.MaxMessage+1)
	tests := []struct{ name, config, arguments, path, want string }{
		{"NoObject", ``, `[]`, "", "not a JSON object"},
		{"Null", ``, `null`, "", "not a JSON object"},
		{"Nothing", ``, `{"prompt":" ","context":null}`, "", "no task"},
		{"NoList", ``, `{"messages":{"role":"user"}}`, "/messages", "want a list"},
		{
			"Role", ``, `{"messages":[{"role":"user","content":"x"},{"role":"root","content":"x"}]}`, "/messages/1/role",
			"root",
		},
		{"Content", ``, `{"messages":[{"role":"user"}]}`, "/messages/0/content", "want a text"},
		{"NullContent", ``, `{"messages":[{"role":"user","content":null}]}`, "/messages/0/content", "want a text"},
		{
			"TooMany", ``,
			`{"messages":[` + strings.Repeat(`{"role":"user","content":""},`, 200) + `{"role":"user","content":""}]}`,
			"/messages", "at most 200",
		},
		{"TooLong", ``, `{"prompt":"` + long + `"}`, "", "at most 262144"},
		{"OwnSchemaTooLong", ``, `{"code":"` + long + `"}`, "", "at most 262144"},
		{"TemplateTooLong", `"prompt_template":"{{x}}",`, `{"x":"` + long + `"}`, "/x", "larger than 262144"},
		{"TemplateOfNothing", `"prompt_template":" {{x}}",`, `{}`, "", "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, _, err := parse(t, `{`+tt.config+`"agent":"research"}`).Message(json.RawMessage(tt.arguments))
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Equal(t, tt.path, e.Path)
			require.Contains(t, e.Msg, tt.want)
		})
	}
}

func TestASkillSpeaksFirst(t *testing.T) {
	t.Parallel()

	message := []tool.Content{tool.Text("the text")}
	require.Equal(t, []tool.Content{tool.Text("Summarize."), tool.Text("the text")},
		agentcall.Instructed("Summarize.", message))
	require.Len(t, message, 1)
}

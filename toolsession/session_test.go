package toolsession_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/linktoken"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

func TestCheck(t *testing.T) {
	t.Parallel()

	good := toolsession.Session{Title: "Vote", Config: json.RawMessage(`{"topic":"lunch"}`), Aggregate: "group:input.choice"}
	require.NoError(t, good.Check())
	for path, change := range map[string]func(s *toolsession.Session){
		"/title":      func(s *toolsession.Session) { s.Title = strings.Repeat("é", toolsession.MaxTitle+1) },
		"/entity_ids": func(s *toolsession.Session) { s.Entities = []string{""} },
		"/config":     func(s *toolsession.Session) { s.Config = json.RawMessage(`[1]`) },
		"/aggregate":  func(s *toolsession.Session) { s.Aggregate = "sum:elsewhere" },
	} {
		wrong := good
		change(&wrong)
		err := wrong.Check()
		require.Equal(t, tool.Invalid, tool.KindOf(err), path)
		require.Equal(t, path, tool.AsError(err).Path)
	}
	require.Error(t, toolsession.CheckKeep(0))
	require.Error(t, toolsession.CheckKeep(toolsession.MaxKeep+1))
	require.NoError(t, toolsession.CheckKeep(toolsession.DefaultKeep))
}

// A token opens what it was made for, and no other kind of token does.
func TestTokens(t *testing.T) {
	t.Parallel()

	tenant, id := tool.TenantID(uuid.NewString()), uuid.NewString()
	made, err := toolsession.NewToken(tenant, id)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(made.Text(), "tcs_"))
	read, ok := toolsession.ReadToken(made.Text())
	require.True(t, ok)
	require.Equal(t, made, read)
	for _, other := range []linktoken.Kind{"tce_", "tcv_"} {
		foreign, err := other.New(tenant, id)
		require.NoError(t, err)
		_, ok = toolsession.ReadToken(foreign.Text())
		require.False(t, ok, other)
	}
}

func submissions(outputs ...string) []toolsession.Submission {
	var all []toolsession.Submission
	for i, o := range outputs {
		all = append(all, toolsession.Submission{
			ID: string(rune('a' + i)), Status: toolsession.Done, Input: json.RawMessage(`{"choice":"x"}`), Output: json.RawMessage(o),
		})
	}
	return append(all, toolsession.Submission{ID: "z", Status: toolsession.Failed, Output: json.RawMessage(`{"n":1000}`)})
}

// Submissions are joined exactly; those that failed, and those without a value, do not count.
func TestJoin(t *testing.T) {
	t.Parallel()

	of := submissions(`{"n":9007199254740993,"w":"tea"}`, `{"n":1.10,"w":"tea"}`, `{"n":"3","w":7}`, `{"n":1e999999}`, `[]`)
	for text, want := range map[string]string{
		"":                   `{"function":"count","submissions":5,"value":5}`,
		"count":              `{"function":"count","submissions":5,"value":5}`,
		"sum:output.n":       `{"function":"sum","of":"output.n","submissions":5,"left_out":3,"value":9007199254740994.1}`,
		"average:output.n":   `{"function":"average","of":"output.n","submissions":5,"left_out":3,"value":4503599627370497.05}`,
		"group:output.w":     `{"function":"group","of":"output.w","submissions":5,"left_out":2,"groups":[{"value":"tea","count":2},{"value":"7","count":1}]}`,
		"group:input.choice": `{"function":"group","of":"input.choice","submissions":5,"groups":[{"value":"x","count":5}]}`,
		"ranking:output.n": `{"function":"ranking","of":"output.n","submissions":5,"left_out":3,"ranked":[
			{"submission_id":"a","value":9007199254740993},{"submission_id":"b","value":1.10}]}`,
	} {
		a, err := toolsession.ParseAggregate(text)
		require.NoError(t, err, text)
		got, err := json.Marshal(a.Join(of))
		require.NoError(t, err)
		require.JSONEq(t, want, string(got), text)
		require.NotContains(t, string(got), "1000")
	}
	a, err := toolsession.ParseAggregate("average:output.none")
	require.NoError(t, err)
	require.Empty(t, a.Join(of).Value)
	a, err = toolsession.ParseAggregate("joinVotes")
	require.NoError(t, err)
	require.Equal(t, "joinVotes", a.Tool)
	for _, wrong := range []string{"sum:", "sum:x", "sum:output.", "median:output.n", "two words", "count:output.n"} {
		_, err := toolsession.ParseAggregate(wrong)
		require.Equal(t, tool.Invalid, tool.KindOf(err), wrong)
	}
}

// What is dropped of a submission does not change what submissions come to.
func TestTrim(t *testing.T) {
	t.Parallel()

	long := `{"n":7,"w":{"x":"tea"},"text":"` + strings.Repeat("x", 60<<10) + `"}`
	for _, text := range []string{
		"", "sum:output.n", "average:input.choice", "group:input.choice", "group:output.w.x", "group:output.text",
		"group:output",
		"ranking:output.n", "joinVotes",
	} {
		a, err := toolsession.ParseAggregate(text)
		require.NoError(t, err)
		of := submissions(long, `{"n":"3"}`, `[]`, `"tea"`)
		want := a.Join(of)
		for i := range of {
			a.Trim(&of[i])
			require.LessOrEqual(t, len(of[i].Input)+len(of[i].Output), 300)
		}
		require.Equal(t, want, a.Join(of), text)
	}
}

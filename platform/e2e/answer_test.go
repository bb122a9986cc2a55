package e2e_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
	"github.com/toolcrib/toolcrib/worker"
)

// answers is a model that gives one answer after another, and keeps what it was asked.
type answers struct {
	mu    sync.Mutex
	texts []string
	asked []agent.ModelRequest
}

func (m *answers) Generate(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, *req)
	said := m.texts[min(len(m.asked), len(m.texts))-1]
	if said == "call" {
		return &agent.ModelResponse{Calls: []agent.Call{{ID: "call_1", Name: "read", Arguments: json.RawMessage(`{"name":"x"}`)}}}, nil
	}
	return &agent.ModelResponse{Text: said, Usage: agent.Usage{InputTokens: 10, OutputTokens: 1}}, nil
}

// The final answer of an agent with an output schema matches it: its form is repaired, the
// model is asked again for another answer, and a run without one fails.
func TestAnswerMatchesTheOutputSchema(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		texts  []string
		output string
		failed string
		asked  int
	}{
		"as it is":        {texts: []string{`{"total": 5}`}, output: `{"total":5}`, asked: 1},
		"in another form": {texts: []string{"```json\n{\"total\": \"5\"}\n```"}, output: `{"total":5}`, asked: 1},
		"asked again":     {texts: []string{"Five.", `{"total": 5}`}, output: `{"total":5}`, asked: 2},
		"after a call":    {texts: []string{"call", `{"sum": 5}`, `{"total": 5}`}, output: `{"total":5}`, asked: 3},
		"a call after it": {texts: []string{`{"sum": 5}`, "call", `{"total": 5}`}, output: `{"total":5}`, asked: 3},
		"none that matches": {
			texts:  []string{"Five."},
			failed: "the model's answer does not match the agent's output schema, after it was asked 3 times", asked: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			d := functionTool("read", tool.Execution{Pure: true})
			d.InputSchema = json.RawMessage(`{"type":"object"}`)
			s.publish("read", d, tool.Policy{})
			a := s.publishAgent(agent.Definition{
				Name: "Desk", Model: "test/x", Instructions: "Add up.", Tools: refs(t, "read"),
				OutputSchema: json.RawMessage(`{"type":"object","required":["total"],"properties":{"total":{"type":"integer"}},` +
					`"additionalProperties":false}`),
			})
			model := &answers{texts: c.texts}
			s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": model}})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			ended, findErr := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, findErr)
			require.Len(t, model.asked, c.asked)
			require.Contains(t, model.asked[0].Instructions, `"required":["total"]`)
			if c.failed != "" {
				require.Error(t, err)
				require.Equal(t, agent.RunFailed, ended.Status)
				require.Equal(t, tool.Invalid, ended.ErrorKind)
				require.Contains(t, ended.Error, c.failed)
				rows, err := s.Store.Usage(t.Context(), s.principal.Tenant, usage.Query{To: time.Now().AddDate(0, 0, 1)})
				require.NoError(t, err)
				require.Len(t, rows, 1)
				require.Equal(t, usage.Counts{Turns: 1, InputTokens: 30, OutputTokens: 3, UnpricedTurns: 1}, rows[0].Counts,
					"what the refused answers used is counted")
				return
			}
			require.NoError(t, err)
			require.Equal(t, agent.RunCompleted, ended.Status)
			require.Equal(t, c.output, ended.Output)
			if name != "asked again" {
				return
			}
			correction := model.asked[1].Messages[len(model.asked[1].Messages)-1]
			require.Equal(t, agent.RoleUser, correction.Role)
			require.Contains(t, correction.Content[0].Text, "Your answer does not match the JSON Schema")
			messages, err := s.Store.Transcript(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, err)
			require.Len(t, messages, 2, "only the answer that matches is part of the transcript")
			require.Equal(t, 20, messages[1].Usage.InputTokens, "both answers were used")
		})
	}
}

package models_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/executors/promptcall"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Prompt tools are held to the contract of executors against providers over
// HTTP, of either API.
func TestPromptConformance(t *testing.T) {
	t.Parallel()

	for _, api := range []string{"openai", "anthropic"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()

			executortest.Run(t, executortest.Harness{
				New: func(t *testing.T, b executortest.Behaviour) executortest.Subject {
					t.Helper()
					return promptSubject(t, api, b)
				},
				Lacks: map[executortest.Behaviour]string{executortest.Panics: "no code of others runs in its process"},
			})
		})
	}
}

// promptSubject is a prompt that wants JSON of a model behind the API.
func promptSubject(t *testing.T, api string, b executortest.Behaviour) executortest.Subject {
	t.Helper()
	upstream := executortest.NewUpstream(t, b)
	url := "http://" + upstream.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b == executortest.Refuses || !upstream.Fault(w, r) {
			behave(w, r, b)
		}
	}))
	variable := strings.ToUpper(api)
	offered := open(t, "", variable+"_BASE_URL="+url, variable+"_API_KEY="+executortest.Secret)
	version := &tool.Version{Slug: "sumUp", Number: "1.0.0", Snapshot: tool.Snapshot{Definition: tool.Definition{
		Implementation: tool.Prompt,
		Config: json.RawMessage(fmt.Sprintf(
			`{"mode": "direct", "prompt_template": "Sum up {{id}}.", "model": %q, "output": "json"}`, api+"/m",
		)),
	}}}
	s := upstream.Subject(promptcall.New(offered, schema.New(0)), version, `{"id": "o1"}`)
	call := s.Call
	s.Keys, s.Call = nil, func(effectID string) *tool.Call {
		c := call(effectID)
		c.Egress = tool.EgressReadOnly
		return c
	}
	return s
}

func behave(w http.ResponseWriter, r *http.Request, b executortest.Behaviour) {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key")
	says := `{"sum": 1}`
	switch b {
	case executortest.Answers:
	case executortest.SaysNo:
		says = executortest.Reason
	case executortest.Refuses:
		w.WriteHeader(http.StatusUnauthorized)
		return
	case executortest.Overflows:
		says = `"` + strings.Repeat("x", 2*executortest.MaxBytes) + `"`
	case executortest.QuotesSecret:
		says = `"` + key + `"`
	case executortest.NoSecret:
		says = "the key is " + key
	case executortest.Saturated, executortest.Fails, executortest.BreaksOff, executortest.Hangs,
		executortest.Unreachable, executortest.Panics: // Of every protocol.
	}
	text, _ := json.Marshal(says)
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/messages") {
		_, _ = fmt.Fprintf(w, `{"content":[{"type":"text","text":%s}],"stop_reason":"end_turn"}`, text)
		return
	}
	_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, text)
}

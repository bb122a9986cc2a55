// Package scripted is a deterministic model that plays a transcript file: for
// demos, tests and benchmarks without a key or a network.
//
// It is a real [agent.Model]. Its answers depend on the turn of the conversation and, by references,
// on the tools' answers, which it compares with the script's expectations.
package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Model plays the transcripts of a directory: the model name "desk" plays
// desk.yaml. It is safe for concurrent use.
type Model struct {
	dir    string
	mu     sync.Mutex
	loaded map[string]*Transcript
}

var _ agent.Model = (*Model)(nil)

// New returns a model that plays the transcripts in dir. Each is read on first
// use and then cached.
func New(dir string) *Model { return &Model{dir: dir, loaded: make(map[string]*Transcript)} }

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`)

// Local implements [agent.LocalModel]: it sends no requests.
func (m *Model) Local() bool { return true }

// Generate returns the transcript's answer for the turn. It fails with
// tool.Invalid when there is no such transcript or turn, or when an expectation
// is not met.
func (m *Model) Generate(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	t, err := m.transcript(req.Model)
	if err != nil {
		return nil, invalid(err.Error())
	}
	turn := t.turn(req)
	if turn < 1 || turn > len(t.Turns) {
		return nil, invalid(fmt.Sprintf("transcript %s has %d turns, but turn %d was requested", req.Model, len(t.Turns),
			req.Turn))
	}
	resp, err := t.Turns[turn-1].answer(req.Messages)
	if err != nil {
		return nil, invalid(fmt.Sprintf("transcript %s, turn %d: %v", req.Model, turn, err))
	}
	if req.Stream != nil && resp.Text != "" {
		req.Stream(agent.Delta{Text: resp.Text})
	}
	return resp, nil
}

// turn returns the turn to play. A run that continues another goes on in the transcript, and
// begins it anew after the last turn.
func (t *Transcript) turn(req *agent.ModelRequest) int {
	said := 0
	for _, m := range req.Messages {
		if m.Role == agent.RoleAssistant && m.ID != "" { // It is recorded: no answer of this turn that was refused.
			said++
		}
	}
	if said >= req.Turn && said < len(t.Turns) {
		return said + 1
	}
	return req.Turn
}

func invalid(msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "scripted.Generate", Msg: msg}
}

func (m *Model) transcript(name string) (*Transcript, error) {
	if !namePattern.MatchString(name) {
		return nil, fmt.Errorf("a transcript is named by letters, digits, dots and dashes, not %q", name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.loaded[name]; ok {
		return t, nil
	}
	t, err := Load(filepath.Join(m.dir, name+".yaml"))
	if err != nil {
		return nil, err
	}
	m.loaded[name] = t
	return t, nil
}

// answer checks what the turn expects of messages, and makes its response.
func (t Turn) answer(messages []agent.Message) (*agent.ModelResponse, error) {
	answers := make(map[string]agent.Message)
	for _, msg := range messages {
		if msg.Role == agent.RoleTool {
			answers[msg.CallID] = msg
		}
	}
	for _, e := range t.Expect {
		if err := e.check(answers); err != nil {
			if e.Otherwise != "" {
				return &agent.ModelResponse{Text: e.Otherwise, Calls: []agent.Call{}}, nil
			}
			return nil, err
		}
	}
	said, err := t.said(answers)
	if err != nil {
		return nil, err
	}
	resp := &agent.ModelResponse{Text: said, Calls: make([]agent.Call, len(t.Call))}
	for i, c := range t.Call {
		arguments, err := c.arguments(answers)
		if err != nil {
			return nil, fmt.Errorf("call %q: %w", c.ID, err)
		}
		resp.Calls[i] = agent.Call{ID: c.ID, Name: c.Tool, Arguments: arguments}
	}
	return resp, nil
}

// said is the text of the turn.
func (t Turn) said(answers map[string]agent.Message) (string, error) {
	filled, err := fill(t.Say, answers)
	if err != nil {
		return "", fmt.Errorf("what it says: %w", err)
	}
	parts, ok := filled.([]any)
	if !ok && filled != nil {
		parts = []any{filled}
	}
	return fmt.Sprint(parts...), nil
}

func (c Call) arguments(answers map[string]agent.Message) (json.RawMessage, error) {
	if c.Raw != "" {
		// Providers also return a malformed payload as text.
		return json.Marshal(c.Raw)
	}
	if c.Args == nil {
		return json.RawMessage("{}"), nil
	}
	filled, err := fill(c.Args, answers)
	if err != nil {
		return nil, err
	}
	return json.Marshal(filled)
}

func (e Expectation) check(answers map[string]agent.Message) error {
	answer, ok := answers[e.Call]
	if !ok {
		return fmt.Errorf("expected an answer to call %q, but there is none", e.Call)
	}
	said := text(answer.Content)
	if e.IsError != nil && *e.IsError != answer.IsError {
		return fmt.Errorf("expected call %q to have is_error=%t; it answered %s", e.Call, *e.IsError, said)
	}
	if !strings.Contains(said, e.Contains) {
		return fmt.Errorf("expected the answer to call %q to contain %q; it is %s", e.Call, e.Contains, said)
	}
	return nil
}

func text(content []tool.Content) string {
	var b bytes.Buffer
	for _, c := range content {
		b.WriteString(c.Text)
		b.Write(c.JSON)
	}
	return b.String()
}

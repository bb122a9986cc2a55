package devcmd_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
	"github.com/toolcrib/toolcrib/tool"
)

// talker is a model that returns half of its answer, and the rest when the test
// releases it: once for each run, by the user's input.
type talker struct {
	mu      sync.Mutex
	goAhead map[string]chan struct{}
}

// told returns the channel that lets the run with this input go on.
func (m *talker) told(input string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.goAhead == nil {
		m.goAhead = map[string]chan struct{}{}
	}
	if m.goAhead[input] == nil {
		m.goAhead[input] = make(chan struct{})
	}
	return m.goAhead[input]
}

// Generate implements [agent.Model].
func (m *talker) Generate(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	req.Stream(agent.Delta{Text: "Half of it, "})
	select {
	case <-m.told(req.Messages[0].Content[0].Text):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	req.Stream(agent.Delta{Text: "and the rest."})
	return &agent.ModelResponse{Text: "Half of it, and the rest."}, nil
}

// watching is a command that runs while the test reads what it writes.
type watching struct {
	out       buffer
	errs      buffer
	interrupt context.CancelFunc
	ended     chan int
}

func watch(t *testing.T, args ...string) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watching{interrupt: cancel, ended: make(chan int, 1)}
	env := cli.Env{In: strings.NewReader(""), Out: &w.out, Err: &w.errs, Environ: []string{
		cli.DataVariable + "=" + shared.dev.Stack().DataDir(),
	}}
	go func() { w.ended <- cli.Run(ctx, env, args, commands.New, operator.New, devcmd.New) }()
	t.Cleanup(cancel)
	return w
}

// says waits until the command has written a text.
func (w *watching) says(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(w.out.String(), text) }, time.Minute, 10*time.Millisecond,
		"%s\n%s", &w.out, &w.errs)
}

// end waits for the command's end.
func (w *watching) end(t *testing.T) int {
	t.Helper()
	select {
	case code := <-w.ended:
		return code
	case <-time.After(time.Minute):
		require.Fail(t, "the command does not end", "%s\n%s", &w.out, &w.errs)
		return 0
	}
}

func applyTalker(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "talker.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"kind":"agent","slug":"talker","instructions":"Talk.","model":"talker/any",
		"version":"1.0.0","publish":true}`), 0o600))
	ok(t, "apply", "-f", path)
}

// What a model says is seen while it says it, and stands there once.
func TestFollowLive(t *testing.T) {
	t.Parallel()
	applyTalker(t)
	w := watch(t, "run", "start", "talker", "-i", "live", "--follow")
	w.says(t, "Half of it, ")
	require.NotContains(t, w.out.String(), "rest", "the model is still at work")
	close(shared.talker.told("live"))
	require.Equal(t, cli.ExitOK, w.end(t), &w.errs)
	require.Equal(t, "run ID of talker\nHalf of it, and the rest.\ncompleted after N ms, 1 turns\n", blur(w.out.String()))
}

// Interrupting leaves the run alone and says how to go on, from where it was.
func TestFollowInterrupted(t *testing.T) {
	t.Parallel()
	applyTalker(t)
	var run v1.Run
	require.NoError(t, json.Unmarshal([]byte(ok(t, "run", "start", "talker", "-i", "interrupted", "--json")), &run))
	w := watch(t, "run", "follow", run.ID)
	w.says(t, "Half of it, ")
	w.interrupt()
	require.Equal(t, cli.ExitInterrupted, w.end(t))
	const hint = "the run goes on; watch it again with: toolcrib run follow "
	_, after, hinted := strings.Cut(strings.TrimSpace(w.errs.String()), hint+run.ID+" --after ")
	require.True(t, hinted, w.errs.String())
	last, err := strconv.Atoi(after)
	require.NoError(t, err)
	require.Contains(t, []int{2, 3}, last, "the text is shown as it comes, and its event may have come by then")

	again := watch(t, "run", "follow", run.ID, "--after", after, "--json")
	close(shared.talker.told("interrupted"))
	require.Equal(t, cli.ExitOK, again.end(t), &again.errs)
	var types []tool.EventType
	for lines := bufio.NewScanner(strings.NewReader(again.out.String())); lines.Scan(); {
		var e tool.Event
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e), "one event a line")
		require.EqualValues(t, last+1+len(types), e.Seq)
		types = append(types, e.Type)
	}
	for len(types) > 0 && types[0] == agent.EventOutputAppended { // In one event or in several, as it came.
		types = types[1:]
	}
	require.Equal(t, []tool.EventType{agent.EventTurn, agent.EventRunCompleted}, types)
}

// Calls are shown too, and a key without the right to a run sees nothing.
func TestFollowCalls(t *testing.T) {
	t.Parallel()
	require.Equal(t, `run ID of greeter
  greet@1.0.0                  function       production completed N ms
  greet@1.0.0                  function       production completed, answered no N ms
  lookUp@1.0.0                 http           production completed N ms
Greeted.
completed after N ms, 2 turns
`, blur(ok(t, "run", "start", "greeter", "--input", "hello", "--follow")))
	code, _, _ := toolcrib(t.Context(), "run", "follow", "nothing")
	require.Equal(t, cli.ExitNotFound, code)
}

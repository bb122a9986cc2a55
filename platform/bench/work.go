package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// lanes are those that are measured.
var lanes = []tool.Lane{tool.LaneFast, tool.LaneVisible}

// step is what the tool of the loops takes and gives: 200 bytes of JSON.
type step struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

var stepText = strings.Repeat("a tool's text, ", 12)

// advance is the tool of the loops: it counts, so that a call that was left out
// or made twice shows in the last answer.
func advance(_ context.Context, in step) (step, error) {
	in.Number++
	return in, nil
}

// essay is the same with a long answer.
type essay struct {
	Number int    `json:"number"`
	Essay  string `json:"essay"`
}

var longText = strings.Repeat("a long text, ", 630) // 8 KB.

func expound(_ context.Context, in step) (essay, error) {
	return essay{Number: in.Number + 1, Essay: longText}, nil
}

// napTime is how long a call of the fan-out takes.
const napTime = 50 * time.Millisecond

func nap(ctx context.Context, in step) (step, error) {
	timer := time.NewTimer(napTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		return advance(ctx, in)
	case <-ctx.Done():
		return in, ctx.Err()
	}
}

// The functions that tools run, all of them pure.
const (
	advanceFunction = "advance"
	expoundFunction = "expound"
	napFunction     = "nap"
)

const (
	fanWidth  = 32
	fanAtOnce = 8
)

func defineFunctions(r *function.Registry) error {
	options := []function.Option{function.Pure(), function.Timeout(5 * time.Second)}
	return errors.Join(
		function.Define(r, advanceFunction, "Counts one further.", advance, options...),
		function.Define(r, expoundFunction, "Counts one further, at length.", expound, options...),
		function.Define(r, napFunction, "Counts one further, slowly.", nap,
			append(options, function.Concurrency("nap", fanAtOnce))...),
	)
}

// modelProvider is the provider of the model that takes no time. An agent's
// model "bench/10" makes one call in each of ten turns, "bench/1x32" makes 32 of
// them in one.
const modelProvider = "bench"

// asked remembers when the model was asked, for the loop that runs alone.
type asked struct {
	mu sync.Mutex
	at []time.Time
}

func (a *asked) note() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = append(a.at, time.Now())
}

// take returns the times since it was last called.
func (a *asked) take() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.at
	a.at = nil
	return at
}

func finalAnswer(turns int) string { return "counted to " + strconv.Itoa(turns) }

// countingModel asks for one further number in each turn. An answer that is not
// the number it asked for ends the run.
func countingModel(at *asked) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		at.note()
		turns, width, err := modelShape(req.Model)
		if err != nil {
			return nil, err
		}
		if req.Turn > 1 {
			if err := checkAnswers(req.Messages, req.Turn-1, width); err != nil {
				return nil, err
			}
		}
		if req.Turn > turns {
			return &agent.ModelResponse{Text: finalAnswer(turns)}, nil
		}
		raw, err := json.Marshal(step{Number: req.Turn - 1, Text: stepText})
		if err != nil {
			return nil, fmt.Errorf("writing arguments: %w", err)
		}
		calls := make([]agent.Call, width)
		for i := range calls {
			calls[i] = agent.Call{ID: fmt.Sprintf("call_%d_%d", req.Turn, i), Name: req.Tools[0].Name, Arguments: raw}
		}
		return &agent.ModelResponse{Calls: calls}, nil
	})
}

func modelShape(name string) (turns, width int, err error) {
	first, second, wide := strings.Cut(name, "x")
	width = 1
	if turns, err = strconv.Atoi(first); err == nil && wide {
		width, err = strconv.Atoi(second)
	}
	if err != nil {
		err = fmt.Errorf("reading the model's name %q: %w", name, err)
	}
	return turns, width, err
}

// checkAnswers checks the answers to the calls of the turn before.
func checkAnswers(messages []agent.Message, want, width int) error {
	if len(messages) < width {
		return fmt.Errorf("the transcript has %d messages", len(messages))
	}
	for _, m := range messages[len(messages)-width:] {
		var got struct {
			Number int `json:"number"`
		}
		if m.Role != agent.RoleTool || len(m.Content) != 1 || json.Unmarshal(m.Content[0].JSON, &got) != nil ||
			got.Number != want {
			return fmt.Errorf("a tool was to answer %d and it answered otherwise", want)
		}
	}
	return nil
}

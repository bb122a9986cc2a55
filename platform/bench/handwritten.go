package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// This is what a team writes that has Temporal and nothing else: no registry,
// no schema, no policy, no ledger, no record.

// Kinds of hand-written tool step.
const (
	regularStep   = "regular"   // A regular activity.
	journaledStep = "journaled" // The same, with a committed row before the tool runs and another after it.
	localStep     = "local"     // A local activity.
)

// loopInput asks for a hand-written loop, or chain, or fan-out.
type loopInput struct {
	Turns int    `json:"turns"`
	Model bool   `json:"model"` // Whether a model step comes before each tool step.
	Step  string `json:"step"`  // The kind of the tool step.
}

const (
	handLoop   = "bench.Loop"
	handFan    = "bench.Fan"
	handModel  = "bench.Model"
	handTool   = "bench.Tool"
	handLedger = "bench.JournaledTool"
	handNap    = "bench.Nap"
)

// handWritten are the hand-written activities.
type handWritten struct {
	journal *database
	asked   *asked
}

func (s *site) registerHandWritten(ctx context.Context, w sdkworker.Registry) error {
	_, err := s.pool.Exec(ctx, `create table bench_journal (
		id uuid primary key, workflow_id text not null, phase text not null, payload json, at timestamptz not null default now())`)
	if err != nil {
		return fmt.Errorf("making the hand-written journal: %w", err)
	}
	h := &handWritten{journal: s.database, asked: &s.asked}
	w.RegisterWorkflowWithOptions(handWrittenLoop, workflow.RegisterOptions{Name: handLoop})
	w.RegisterWorkflowWithOptions(handWrittenFan, workflow.RegisterOptions{Name: handFan})
	for name, fn := range map[string]any{handModel: h.model, handTool: advance, handLedger: h.journaled, handNap: nap} {
		w.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	return nil
}

// model is the hand-written model step: it takes the last answer and asks for
// the next number.
func (h *handWritten) model(_ context.Context, last step) (step, error) {
	h.asked.note()
	return step{Number: last.Number, Text: stepText}, nil
}

// journaled is the tool between two commits.
func (h *handWritten) journaled(ctx context.Context, in step) (step, error) {
	if err := h.write(ctx, "before", in); err != nil {
		return step{}, err
	}
	out, err := advance(ctx, in)
	if err != nil {
		return step{}, err
	}
	return out, h.write(ctx, "after", out)
}

func (h *handWritten) write(ctx context.Context, phase string, payload step) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("making an id: %w", err)
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("writing a payload: %w", err)
	}
	_, err = h.journal.pool.Exec(ctx,
		"insert into bench_journal (id, workflow_id, phase, payload) values ($1, $2, $3, $4)",
		id, activity.GetInfo(ctx).WorkflowExecution.ID, phase, raw)
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func regularOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 30 * time.Second})
}

func localOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: 30 * time.Second})
}

// schedule runs a tool step of a kind.
func schedule(ctx workflow.Context, kind, regular string, in step) workflow.Future {
	switch kind {
	case localStep:
		return workflow.ExecuteLocalActivity(localOptions(ctx), regular, in)
	case journaledStep:
		return workflow.ExecuteActivity(regularOptions(ctx), handLedger, in)
	default:
		return workflow.ExecuteActivity(regularOptions(ctx), regular, in)
	}
}

// handWrittenLoop takes turns and returns the number it counted to.
func handWrittenLoop(ctx workflow.Context, in loopInput) (int, error) {
	at := step{Text: stepText}
	for range in.Turns {
		if in.Model {
			ctx := regularOptions(ctx)
			if err := workflow.ExecuteActivity(ctx, handModel, at).Get(ctx, &at); err != nil {
				return 0, err
			}
		}
		if err := schedule(ctx, in.Step, handTool, at).Get(ctx, &at); err != nil {
			return 0, err
		}
	}
	return at.Number, nil
}

// handWrittenFan makes many calls, some of them at a time, and returns the sum
// of their answers.
func handWrittenFan(ctx workflow.Context, in loopInput) (int, error) {
	sum, failed := 0, error(nil)
	permits, wg := workflow.NewSemaphore(ctx, fanAtOnce), workflow.NewWaitGroup(ctx)
	for i := range fanWidth {
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			if err := permits.Acquire(ctx, 1); err != nil {
				failed = err
				return
			}
			defer permits.Release(1)
			var out step
			if err := schedule(ctx, in.Step, handNap, step{Number: i, Text: stepText}).Get(ctx, &out); err != nil {
				failed = err
			}
			sum += out.Number
		})
	}
	wg.Wait(ctx)
	return sum, failed
}

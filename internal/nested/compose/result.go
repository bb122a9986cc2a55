package compose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// NotRun is the status of a step that did not run.
const NotRun tool.InvocationStatus = "not_run"

// Statuses of a composition.
const (
	Completed = "completed" // Every step succeeded.
	Partial   = "partial"   // Some steps succeeded; or the output could not be computed.
	Failed    = "failed"    // No step succeeded.
)

// StepEnd is the outcome of a step, in the result of a composition.
type StepEnd struct {
	ID           string
	Tool         string                // "slug@version".
	Status       tool.InvocationStatus // Or [NotRun].
	InvocationID string                // Empty where there is none.
	IsError      bool                  // The step returned an error result, or failed.
	Kind         tool.Kind             // Kind of failure.
	Msg          string                // Message of the failure or error result.
}

// done reports whether the step succeeded.
func (e StepEnd) done() bool { return e.Status == tool.StatusCompleted && !e.IsError }

// answer is the structured result of a composition.
type answer struct {
	Status string          `json:"status"`
	Steps  []told          `json:"steps"`
	Output json.RawMessage `json:"output,omitempty"`
	Error  *problem        `json:"error,omitempty"`
}

type told struct {
	ID           string                `json:"id"`
	Tool         string                `json:"tool"`
	Status       tool.InvocationStatus `json:"status"`
	InvocationID string                `json:"invocation_id,omitempty"`
	IsError      bool                  `json:"is_error"`
	Error        *problem              `json:"error,omitempty"`
}

type problem struct {
	Kind    tool.Kind `json:"kind,omitempty"` // Empty for a step with an error result.
	Message string    `json:"message"`
}

// Result returns the result of a composition for its caller. Steps are all of its steps, in
// order; failure is why the composition stopped, or why it has no output, and nil when it
// completed. A completed composition is not an error, even if steps with on_error continue
// failed.
func Result(steps []StepEnd, output json.RawMessage, failure error) *tool.Result {
	a := answer{Status: status(steps, failure), Steps: make([]told, 0, len(steps))}
	for _, s := range steps {
		a.Steps = append(a.Steps, told{s.ID, s.Tool, s.Status, s.InvocationID, s.IsError, s.problem()})
	}
	content := []tool.Content{tool.Text(tell(steps, failure))}
	if failure == nil {
		a.Output = output
		if len(output) > 0 {
			content = append(content, tool.JSON(output))
		}
	} else {
		e := tool.AsError(failure)
		a.Error = &problem{e.Kind, e.Msg}
	}
	structured, err := json.Marshal(a)
	if err != nil { // The output is valid JSON, and the rest has a form.
		return tool.ErrorResult(content[0].Text)
	}
	return &tool.Result{Content: content, Structured: structured, IsError: failure != nil}
}

func (e StepEnd) problem() *problem {
	if e.done() || e.Status == NotRun {
		return nil
	}
	return &problem{e.Kind, cmp.Or(e.Msg, string(e.Status))}
}

func status(steps []StepEnd, failure error) string {
	done := 0
	for _, s := range steps {
		if s.done() {
			done++
		}
	}
	switch {
	case done == len(steps) && failure == nil:
		return Completed
	case done == 0:
		return Failed
	default:
		return Partial
	}
}

// tell describes which steps succeeded, which failed and why, and which did not run.
func tell(steps []StepEnd, failure error) string {
	var done, failed, notRun []string
	for _, s := range steps {
		switch name := fmt.Sprintf("%s (%s)", s.ID, s.Tool); {
		case s.done():
			done = append(done, name)
		case s.Status == NotRun:
			notRun = append(notRun, name)
		default:
			failed = append(failed, name+" "+s.how())
		}
	}
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch {
	case failure == nil && len(failed) == 0:
		say("All steps succeeded: %s.", strings.Join(done, ", "))
	case failure == nil:
		say("The composition ended, but not every step succeeded.")
	case explained(steps, failure):
		say("The composition stopped.")
	default:
		say("The composition stopped: %s.", strings.TrimRight(tool.AsError(failure).Msg, ". "))
	}
	if len(failed) > 0 {
		say("Failed: %s.", strings.Join(failed, "; "))
	}
	if len(lines) > 1 || failure != nil {
		if len(done) > 0 {
			say("Done, and not undone: %s.", strings.Join(done, ", "))
		} else {
			say("No step succeeded.")
		}
	}
	if len(notRun) > 0 {
		say("Not run: %s.", strings.Join(notRun, ", "))
	}
	return strings.Join(lines, "\n")
}

// explained reports whether the steps' messages include why the composition stopped.
func explained(steps []StepEnd, failure error) bool {
	why := tool.AsError(failure).Msg
	return slices.ContainsFunc(steps, func(s StepEnd) bool {
		return !s.done() && s.Status != NotRun && s.Msg != "" && strings.Contains(why, s.Msg)
	})
}

// how describes how a step failed.
func (e StepEnd) how() string {
	why := strings.TrimRight(e.Msg, ". ")
	switch {
	case e.Status == tool.StatusUnknown:
		return "has an unknown outcome, and may have taken effect: " + why
	case e.Status == tool.StatusCompleted:
		return "returned an error: " + why
	case e.Kind == "":
		return fmt.Sprintf("was %s: %s", e.Status, why)
	default:
		return fmt.Sprintf("failed (%s): %s", e.Kind, why)
	}
}

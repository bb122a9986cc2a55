package schema

import (
	"fmt"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of the work for one payload: decoding, coercion, validation and explanation share one
// budget. A step is the visit of a value by a subschema, or work of about the same cost.
const (
	baseSteps   = 80_000 // Of any payload; three more for each two bytes of it.
	maxVerdicts = 60_000 // Remembered at once; bounds memory.
	maxFrames   = 10_000 // Nested visits; bounds the stack.
	pollEvery   = 2_048  // Steps between two calls of canceled.
)

// work is the budget of one payload and a cache of verdicts. It is for one goroutine. Once the
// budget is used up, err is set, every verdict is false and must be ignored.
type work struct {
	canceled func() error // Returns why to stop early.
	total    int
	left     int
	poll     int // Call canceled when left falls below.
	remember int // Cache verdicts when left falls below.
	frames   int
	verdicts map[visit]bool
	err      error
}

// visit is a value seen by a subschema.
type visit struct {
	rule  *rule
	value *jsonvalue.Value
}

// newWork returns the budget of a payload of size bytes. Canceled, a context's Err, stops the work
// early.
func newWork(canceled func() error, size int) *work {
	steps := baseSteps + size*3/2
	// A schema without alternatives visits each value a few times: verdicts are not
	// worth caching, unless the work is large.
	return &work{canceled: canceled, total: steps, left: steps, poll: steps - pollEvery, remember: steps - 500 - size/2}
}

// spend takes n steps and reports whether the budget allowed them.
func (w *work) spend(n int) bool {
	if w.err != nil {
		return false
	}
	if w.left -= n; w.left < 0 {
		w.err = tooCostly()
		return false
	}
	if w.left < w.poll {
		w.poll = w.left - pollEvery
		if err := w.canceled(); err != nil {
			w.err = fmt.Errorf("checking a payload: %w", err)
		}
	}
	return w.err == nil
}

// extend adds a third of the budget, to explain why a value was refused.
func (w *work) extend() {
	w.left += w.total / 3
	w.poll, w.remember = w.left-pollEvery, w.left
}

func tooCostly() error {
	return &tool.Error{
		Kind: tool.Invalid, Op: "schema.Validate",
		Msg: "too large or too deeply nested to be checked against the schema: send fewer, smaller or less deeply " +
			"nested values",
	}
}

// accepts reports whether v is valid by r.
func (w *work) accepts(r *rule, v *jsonvalue.Value) bool { return w.visit(r, v, nil) }

// visit reports whether v is valid by r, and adds the evaluated parts of v to seen, unless nil.
func (w *work) visit(r *rule, v *jsonvalue.Value, seen *evaluated) bool {
	if !w.spend(1) {
		return false
	}
	if r.always != undecided {
		return r.always == always
	}
	if !r.takes(v) {
		return false
	}
	remember := seen == nil && w.left < w.remember && v.Len() > 0
	if remember {
		if verdict, ok := w.verdicts[visit{r, v}]; ok {
			return verdict
		}
	}
	if w.frames++; w.frames > maxFrames {
		w.err = tooCostly()
		return false
	}
	ok := w.meets(r, v, seen)
	w.frames--
	if remember && w.err == nil && len(w.verdicts) < maxVerdicts {
		if w.verdicts == nil {
			w.verdicts = make(map[visit]bool)
		}
		w.verdicts[visit{r, v}] = ok
		w.spend(1)
	}
	return ok
}

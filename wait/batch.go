package wait

import (
	"fmt"
	"strconv"
	"strings"
)

// Batch names the requests of the calls of one turn of a run. They are shown as one, and may be
// decided together or each.
type Batch struct {
	RunID string
	Turn  int
}

// String returns the name of the batch, as [ParseBatch] reads it.
func (b Batch) String() string { return b.RunID + "." + strconv.Itoa(b.Turn) }

// ParseBatch reads the name of a batch.
func ParseBatch(name string) (Batch, error) {
	run, turn, ok := strings.Cut(name, ".")
	n, err := strconv.ParseInt(turn, 10, 32)
	if !ok || run == "" || err != nil || n < 0 {
		return Batch{}, fmt.Errorf("%q is no batch: expected a run and a turn, as in RUN.2", name)
	}
	return Batch{RunID: run, Turn: int(n)}, nil
}

// Batch returns the batch of the request.
func (a *Approval) Batch() Batch { return Batch{RunID: a.RunID, Turn: a.Turn} }

package quota

import (
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// ExceededError is the quota that does not allow a creation. It is the cause of the [tool.Error] that
// refuses it.
type ExceededError struct {
	Name  Name  `json:"name"`
	Limit int64 `json:"limit"`
	Used  int64 `json:"used"`
	More  int64 `json:"more"` // How much would be added.
}

// Error implements the error interface.
func (e *ExceededError) Error() string {
	return fmt.Sprintf("quota %s: %d used of %d, %d more", e.Name, e.Used, e.Limit, e.More)
}

// passingRetry is when a creation is worth another attempt where room comes by itself.
const passingRetry = time.Minute

// Failure returns the refusal as a [tool.Error]. Its kind is Conflict where something has to be
// deleted first, and RateLimited where room comes by itself. The message names the quota, how much
// is used of it, and what to do.
func (e *ExceededError) Failure(op string) error {
	info, err := Find(string(e.Name))
	if err != nil { // Of a newer platform.
		info.advice = "delete some"
	}
	beyond := ""
	if e.More > 1 {
		beyond = fmt.Sprintf(", so that %d more are beyond it", e.More)
	}
	failed := &tool.Error{
		Kind: tool.Conflict, Op: op, Err: e,
		Msg: fmt.Sprintf("the tenant's quota %q is %d, and %d are used%s: %s, or ask the operator for a higher quota",
			e.Name, e.Limit, e.Used, beyond, info.advice),
	}
	if info.passing {
		failed.Kind, failed.RetryAfter = tool.RateLimited, passingRetry
	}
	return failed
}

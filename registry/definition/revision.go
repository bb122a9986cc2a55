package definition

import (
	"errors"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// ErrChanged is the cause of the Conflict when an update names a revision that is
// not the stored one.
var ErrChanged = errors.New("it is at another revision")

// CheckRevision fails with tool.Conflict, caused by [ErrChanged], if the stored
// revision differs from the wanted one. A wanted revision of zero always passes.
func CheckRevision(kind, slug string, revision, wanted int64) error {
	if wanted == 0 || wanted == revision {
		return nil
	}
	e := refusal.New(tool.Conflict, "/revision", "%s %q was changed concurrently: it is at revision %d", kind, slug,
		revision)
	e.Err = ErrChanged
	return e
}

package folder

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"syscall"
)

// Error says that a data folder cannot be used.
type Error struct {
	Dir    string
	Reason string // Why it cannot be used.
	Mend   string // What to do about it.
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("the data folder %s %s: %s", e.Dir, e.Reason, e.Mend)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

const elsewhere = "choose another folder with --data"

// Explain returns err as an [*Error] if it says that the folder cannot be used,
// and as it is otherwise.
func Explain(dir string, err error) error {
	if _, explained := errors.AsType[*Error](err); explained {
		return err
	}
	out := &Error{Dir: dir, Mend: elsewhere, Err: err}
	switch {
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		out.Reason = "may not be used by this user"
		if name, ok := owner(dir); ok {
			out.Reason += "; it belongs to " + name
			out.Mend = fmt.Sprintf("give it to you with: sudo chown -R %d %s, or %s", syscall.Geteuid(), strconv.Quote(dir),
				elsewhere)
		}
	case errors.Is(err, syscall.EROFS):
		out.Reason = "is on a file system that is read-only"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		out.Reason, out.Mend = "is on a disk that is full", "make room there, or "+elsewhere
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EEXIST):
		out.Reason = "is not a folder"
	default:
		return err
	}
	return out
}

// nameOf returns the name of a user, or the number where there is none.
func nameOf(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}

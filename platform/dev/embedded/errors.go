package embedded

import (
	"fmt"

	"github.com/toolcrib/toolcrib/platform/dev/ports"
)

// LockedError says that another process uses a data folder.
type LockedError struct {
	Dir string // The folder.
	PID int    // The process that holds it; 0 when it did not say.
}

func (e *LockedError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s uses the data folder %s: stop it, or choose another folder", holder, e.Dir)
}

// VersionMismatchError says that a data folder was written by a release whose
// files this one cannot read.
type VersionMismatchError struct {
	Service string // "PostgreSQL" or "Temporal".
	Dir     string // The folder that holds the data.
	Have    string // The release or schema that wrote it.
	Want    string // The release or schema at hand.
}

func (e *VersionMismatchError) Error() string {
	return fmt.Sprintf("%s holds data of %s %s, and this is %s: use the older release, or remove the folder to begin anew",
		e.Dir, e.Service, e.Have, e.Want)
}

// StartError says that a service did not come up.
type StartError struct {
	Service string // "PostgreSQL" or "Temporal".
	Log     string // The last lines it logged, if any.
	Err     error
}

func (e *StartError) Error() string {
	msg := fmt.Sprintf("starting %s: %v", e.Service, e.Err)
	if e.Log != "" {
		msg += "; it said:\n" + e.Log
	}
	return msg
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// PortTakenError says that a port that was asked for, and no other, is taken.
type PortTakenError struct {
	Service string // What was to listen there, such as "Temporal".
	Port    int
	By      ports.Process // The process that listens there; zero if it is unknown.
}

func (e *PortTakenError) Error() string {
	return fmt.Sprintf("port %d, which %s was to listen on, is taken by %s: stop it, or ask for another port", e.Port,
		e.Service, e.By)
}

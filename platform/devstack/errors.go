package devstack

import (
	"fmt"
	"strings"
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

// MissingPostgresError says that this machine has no PostgreSQL that the stack
// can run, and how to get one.
type MissingPostgresError struct {
	Searched []string // Folders without the programs, $PATH first.
	TooOld   []string // Installations that were found and are older than [MinPostgresMajor].
	Install  string   // The command that mends it on this system.
}

func (e *MissingPostgresError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the programs postgres and initdb of PostgreSQL %d or newer are missing", MinPostgresMajor)
	if len(e.TooOld) > 0 {
		fmt.Fprintf(&b, " (too old: %s)", strings.Join(e.TooOld, ", "))
	}
	fmt.Fprintf(&b, "; looked in %s\n", strings.Join(e.Searched, ", "))
	fmt.Fprintf(&b, "install them:  %s\n", e.Install)
	b.WriteString("or set TOOLCRIB_DATABASE_URL to a server that runs already")
	return b.String()
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

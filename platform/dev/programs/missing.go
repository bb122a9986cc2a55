package programs

import (
	"fmt"
	"strings"
)

// MissingError says that a machine has no PostgreSQL that Toolcrib can run, and
// how to get one.
type MissingError struct {
	Searched []string // Folders without the programs, $PATH first.
	TooOld   []string // Installations that were found and are older than [MinMajor].
	Install  string   // The command that mends it on this system.
	Download error    // Why they could not be downloaded, where that was tried.
}

func (e *MissingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the programs postgres and initdb of PostgreSQL %d or newer are missing", MinMajor)
	if len(e.TooOld) > 0 {
		fmt.Fprintf(&b, " (too old: %s)", strings.Join(e.TooOld, ", "))
	}
	fmt.Fprintf(&b, "; looked in %s\n", strings.Join(e.Searched, ", "))
	if e.Download != nil {
		fmt.Fprintf(&b, "and they were not downloaded: %v\n", e.Download)
	}
	fmt.Fprintf(&b, "install them:  %s\n", e.Install)
	b.WriteString("or set TOOLCRIB_DATABASE_URL to a server that runs already")
	return b.String()
}

// Unwrap returns why they could not be downloaded.
func (e *MissingError) Unwrap() error { return e.Download }

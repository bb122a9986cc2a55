package graph

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Fault is one thing that is wrong with a definition.
type Fault struct {
	Path string `json:"path"` // JSON Pointer.
	Msg  string `json:"message"`
}

// Faults are everything that is wrong with a definition, in its order. As an error they are the
// cause of that of [Parse].
type Faults []Fault //nolint:errname // It is what the definition has; one is no error.

// Error implements the error interface.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Path + ": " + fault.Msg
	}
	return strings.Join(lines, "; ")
}

// maxFaults bounds the faults that are reported, and maxShown those in the text of the error.
const (
	maxFaults = 100
	maxShown  = 20
)

// err returns the faults as one error, which names all of them; nil where there are none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	msg := f[0].Msg
	if len(f) > 1 {
		shown := f[:min(len(f), maxShown)]
		msg = fmt.Sprintf("%d faults: %s", len(f), shown.Error())
		if len(f) > maxShown {
			msg += "; and more"
		}
	}
	return &tool.Error{Kind: tool.Invalid, Op: "graph.Parse", Path: f[0].Path, Msg: msg, Err: f}
}

func (f *Faults) add(path, format string, args ...any) {
	if len(*f) < maxFaults {
		*f = append(*f, Fault{path, fmt.Sprintf(format, args...)})
	}
}

// take adds a fault of something that was parsed.
func (f *Faults) take(path string, err error) {
	if err == nil {
		return
	}
	e := tool.AsError(err)
	if e.Path != "" {
		path = e.Path
	}
	f.add(path, "%s", e.Msg)
}

// FaultsOf returns everything that is wrong with a definition, from the error of [Parse].
func FaultsOf(err error) Faults {
	if faults, ok := errors.AsType[Faults](err); ok {
		return faults
	}
	e := tool.AsError(err)
	return Faults{{e.Path, e.Msg}}
}

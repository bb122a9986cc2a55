package schedule

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of schedules.
const (
	MaxSchedules = 100 // Of a tenant.
	MaxNote      = 500
	MaxInput     = 64 << 10 // Bytes.
	MaxStarts    = 1_000_000

	DefaultCatchup = time.Hour
	MinCatchup     = 10 * time.Second
	MaxCatchup     = 365 * 24 * time.Hour

	// StartPermission is what whoever makes a schedule must be permitted then, and at each start.
	StartPermission = "runs.write"
)

// ErrChanged is in the chain of errors when a schedule's revision has changed.
var ErrChanged = errors.New("the schedule was changed meanwhile")

// Overlap says what happens at a time of a schedule while the run of an earlier time has not
// ended. A run that waits for a person has not ended.
type Overlap string

// Overlap policies.
const (
	Skip        Overlap = "skip"         // The time passes without a run. The default.
	BufferOne   Overlap = "buffer_one"   // One run starts when the earlier one has ended, however many times passed.
	BufferAll   Overlap = "buffer_all"   // A run for each time, one after the other.
	CancelOther Overlap = "cancel_other" // The earlier run is cancelled; when it has ended, the new one starts.
	AllowAll    Overlap = "allow_all"    // The runs go on side by side.
)

// Overlaps lists the overlap policies, the default first.
func Overlaps() []Overlap { return []Overlap{Skip, BufferOne, BufferAll, CancelOther, AllowAll} }

// Schedule starts runs of an agent at certain times.
type Schedule struct {
	ID     string
	Tenant tool.TenantID
	Name   string // As a slug; unique within the tenant.

	Agent      string          // Slug.
	Constraint string          // Of the agent's version, such as "^1.2"; empty for the highest published at each start.
	Input      json.RawMessage // Of each run: a string, or any other JSON value.

	Times
	Overlap Overlap // Defaults to [Skip].
	// Catchup is how late a start may be, when Temporal was away at its time. Defaults to
	// [DefaultCatchup].
	Catchup time.Duration

	Paused     bool
	Note       string // Why it is paused or was resumed.
	StartsLeft *int64 // How many times may still start a run; nil for no limit. The last one pauses the schedule.

	// CreatedBy is the subject who made the schedule or changed what it runs. Runs have this
	// subject's authority as it is when they start.
	CreatedBy string
	Revision  int64
	Applied   int64  // The highest revision that Temporal is known to have; zero for none.
	SyncError string // Why Temporal does not have the revision, as far as that is known.
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Synced reports whether Temporal has the schedule as it is.
func (s *Schedule) Synced() bool { return s.Applied == s.Revision }

// Check validates s, and fills in defaults. It does not check that the agent exists.
func (s *Schedule) Check() error {
	s.Overlap, s.Catchup = cmp.Or(s.Overlap, Skip), cmp.Or(s.Catchup, DefaultCatchup)
	switch {
	case !tool.ValidSlug(s.Name):
		return invalid("/name", "a schedule needs a name: a letter, then up to 63 letters, digits, dashes and underscores")
	case !tool.ValidSlug(s.Agent):
		return invalid("/agent", "a schedule needs the slug of an agent")
	case len(s.Input) == 0:
		return invalid("/input", "a schedule needs the input of its runs")
	case len(s.Input) > MaxInput:
		return invalid("/input", "the input has more than %d bytes", MaxInput)
	case !slices.Contains(Overlaps(), s.Overlap):
		return invalid("/overlap", "%.40q is no overlap policy: want one of %s", s.Overlap, overlapNames())
	case s.Catchup < MinCatchup || s.Catchup > MaxCatchup:
		return invalid("/catchup_s", "want %d to %d seconds", int(MinCatchup.Seconds()), int(MaxCatchup.Seconds()))
	case utf8.RuneCountInString(s.Note) > MaxNote:
		return invalid("/note", "the note has more than %d characters", MaxNote)
	case s.StartsLeft != nil && (*s.StartsLeft < 0 || *s.StartsLeft > MaxStarts):
		return invalid("/starts_left", "want 0 to %d starts", MaxStarts)
	case s.StartsLeft != nil && *s.StartsLeft == 0 && !s.Paused:
		return invalid("/starts_left", "no start is left: give it more, or none of this, for no limit")
	}
	return s.Times.check()
}

func overlapNames() string {
	names := make([]string, 0, len(Overlaps()))
	for _, o := range Overlaps() {
		names = append(names, string(o))
	}
	return strings.Join(names, ", ")
}

// Changed returns the error of a change of a schedule that another one came before.
func Changed() error {
	return &tool.Error{Kind: tool.Conflict, Op: "schedule", Msg: ErrChanged.Error(), Err: ErrChanged}
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "schedule", Path: path, Msg: fmt.Sprintf(format, args...)}
}

package space

import (
	"slices"
	"time"
	"unicode/utf8"
)

// NoteKind is what an agent keeps a note of.
type NoteKind string

// Kinds of notes. They are stored: never rename one.
const (
	Goal   NoteKind = "goal"
	Memory NoteKind = "memory"
	Plan   NoteKind = "plan"
)

// NoteKinds lists every kind.
func NoteKinds() []NoteKind { return []NoteKind{Goal, Memory, Plan} }

// Bounds of notes.
const (
	MaxNotes   = 100 // Of a kind, of an agent.
	MaxNoteKey = 64
	MaxNote    = 2 << 10 // Bytes of a text.
)

// Note is a goal, a memory or a plan of an agent. It belongs to the agent and its tenant, not to a
// run or a space: that is what agents keep from run to run.
type Note struct {
	Kind      NoteKind
	Key       string // Unique for the agent and the kind: the agent's own choice.
	Text      string
	Done      bool // Of a plan or goal.
	CreatedAt time.Time
	UpdatedAt time.Time
}

// CheckNotes fails with tool.Invalid for notes that cannot be kept.
func CheckNotes(notes []Note) error {
	for i := range notes {
		n := &notes[i]
		switch {
		case !slices.Contains(NoteKinds(), n.Kind):
			return invalid("/kind", "kind %.40q: expected goal, memory or plan", n.Kind)
		case n.Key == "" || len(n.Key) > MaxNoteKey || !utf8.ValidString(n.Key):
			return invalid("/key", "key %.80q: expected 1 to %d bytes", n.Key, MaxNoteKey)
		case n.Text == "" || len(n.Text) > MaxNote:
			return invalid("/text", "the text of %q has %d bytes: expected 1 to %d", n.Key, len(n.Text), MaxNote)
		}
	}
	return nil
}

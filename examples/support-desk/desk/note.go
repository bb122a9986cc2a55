package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/executors/function"
)

// NoteInput is a note to the people behind the desk.
type NoteInput struct {
	OrderID string `json:"order_id" jsonschema:"the order it is about"`
	Queue   string `json:"queue" jsonschema:"who is to read it, such as refunds"`
	Text    string `json:"text" jsonschema:"what they need to know"`
}

// Note is a note that was written.
type Note struct {
	ID      string `json:"note_id"`
	OrderID string `json:"order_id"`
	Queue   string `json:"queue"`
	Text    string `json:"-"`
}

// Notebook keeps the notes. The zero Notebook is empty and ready to use, and
// safe for concurrent use.
type Notebook struct {
	mu      sync.Mutex
	notes   []Note
	written map[string]int // Index by effect id.
}

// Notes returns all notes, in the order they were written.
func (b *Notebook) Notes() []Note {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.notes)
}

// write adds a note, once for each call however often it is tried.
func (b *Notebook) write(ctx context.Context, in NoteInput) (Note, error) {
	if strings.TrimSpace(in.Text) == "" {
		return Note{}, errors.New("the note says nothing")
	}
	info, ok := function.InfoFrom(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if i, again := b.written[info.EffectID]; ok && again {
		return b.notes[i], nil
	}
	note := Note{ID: fmt.Sprintf("N-%d", len(b.notes)+1), OrderID: in.OrderID, Queue: in.Queue, Text: in.Text}
	if ok {
		if b.written == nil {
			b.written = make(map[string]int)
		}
		b.written[info.EffectID] = len(b.notes)
	}
	b.notes = append(b.notes, note)
	return note, nil
}

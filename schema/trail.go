package schema

import (
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// reading is a possible interpretation of a value: the new value and the edits.
type reading struct {
	value *jsonvalue.Value
	trail trail
}

// trail lists edits relative to the value they apply to, so that a reading of a part can be
// reused anywhere. It is immutable once built.
type trail struct {
	notes []note
	count int // Of edits.
}

// note is an edit of a part of the value, or of the value itself if at is empty, or the trail of
// a part.
type note struct {
	at     string // A token of a JSON Pointer with its slash.
	edit   Edit
	nested *trail
}

// record adds an edit at a part.
func (t *trail) record(at, from, to string, rule Rule) {
	t.notes = append(t.notes, note{at: at, edit: Edit{From: from, To: to, Rule: rule}})
	t.count++
}

// include adds the edits of a part.
func (t *trail) include(at string, nested trail) {
	if nested.count > 0 {
		t.notes = append(t.notes, note{at: at, nested: &nested})
		t.count += nested.count
	}
}

// appendTo appends the edits to a receipt, with their full paths.
func (t trail) appendTo(receipt Receipt, path string) Receipt {
	for _, n := range t.notes {
		if n.nested != nil {
			receipt = n.nested.appendTo(receipt, path+n.at)
			continue
		}
		e := n.edit
		e.Path = tool.Clip(path+n.at, 240)
		receipt = append(receipt, e)
	}
	return receipt
}

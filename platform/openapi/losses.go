package openapi

import (
	"fmt"
	"slices"
)

// Loss is a part of a document that was not mapped to a tool.
type Loss struct {
	Pointer string // JSON Pointer within the document.
	Reason  string
}

// losses collects losses, without duplicates.
type losses struct {
	list  []Loss
	known map[Loss]bool
	more  int // The number of losses that are not listed.
}

func (l *losses) add(pointer, format string, args ...any) {
	l.put(Loss{Pointer: clip(pointer, 400), Reason: line(fmt.Sprintf(format, args...), 300)})
}

func (l *losses) put(loss Loss) {
	switch {
	case l.known[loss]:
	case len(l.list) >= maxLosses:
		l.more++
	default:
		if l.known == nil {
			l.known = make(map[Loss]bool)
		}
		l.known[loss] = true
		l.list = append(l.list, loss)
	}
}

func (l *losses) merge(other *losses) {
	for _, loss := range other.list {
		l.put(loss)
	}
	l.more += other.more
}

// all returns the losses; the last one may count those that are not listed.
func (l *losses) all() []Loss {
	if l.more == 0 {
		return l.list
	}
	return append(slices.Clip(l.list), Loss{Reason: fmt.Sprintf("and %d more", l.more)})
}

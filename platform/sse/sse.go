// Package sse reads server-sent events, with bounds: for the API client and for
// tests of the API.
//
// It is of our own because github.com/tmaxmax/go-sse's reader hides the retry
// field, by which the server names the pause before reconnecting, and comments,
// by which a reader sees that the connection is alive.
package sse

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"strconv"
	"time"
)

// Event is what a stream holds up to an empty line. It may hold no data: then
// it is a comment or sets the pause before reconnecting.
type Event struct {
	ID      string
	Type    string        // Field "event".
	Data    []byte        // Lines, joined by newlines.
	Retry   time.Duration // Pause before reconnecting; 0 if not given.
	Comment string        // The last of the event.
}

// Read returns the events of a stream until it ends. An event that is cut off
// by the end is dropped. The last value is an error if reading failed:
// [bufio.ErrTooLong] for an event of more than limit bytes. alive is called for
// each line, comments too.
func Read(r io.Reader, limit int, alive func()) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 4<<10), limit)
		var e Event
		for lines.Scan() {
			alive()
			if line := lines.Bytes(); len(line) > 0 {
				if e.add(line); len(e.Data) > limit {
					yield(Event{}, bufio.ErrTooLong)
					return
				}
				continue
			}
			if !yield(e, nil) {
				return
			}
			e = Event{}
		}
		if err := lines.Err(); err != nil {
			yield(Event{}, err)
		}
	}
}

// add reads a line that is not empty. Unknown fields are ignored.
func (e *Event) add(line []byte) {
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "":
		e.Comment = string(value)
	case "id":
		e.ID = string(value)
	case "event":
		e.Type = string(value)
	case "data":
		if e.Data != nil {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
	case "retry":
		if ms, err := strconv.Atoi(string(value)); err == nil && ms > 0 {
			e.Retry = time.Duration(ms) * time.Millisecond
		}
	}
}

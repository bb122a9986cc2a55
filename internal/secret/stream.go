package secret

import "strings"

// streamContext is how much of what was returned a [Stream] looks back at: an
// encoding that began there may go on.
const streamContext = 256

// Stream removes known secrets from a text that comes in pieces, those included
// that are cut between pieces. It keeps back what may be the beginning of one
// until more is known. It is not safe for concurrent use.
type Stream struct {
	redactor *Redactor
	context  string // The end of what was returned, as it came.
	back     string // What is kept back.
}

// NewStream returns a stream that removes what r knows, at each time.
func NewStream(r *Redactor) *Stream { return &Stream{redactor: r} }

// Next takes the next piece, and returns what may be shown by now.
func (s *Stream) Next(piece string) string { return s.take(piece, false) }

// Rest returns what was kept back. The stream starts anew after it.
func (s *Stream) Rest() string {
	rest := s.take("", true)
	s.context = ""
	return rest
}

func (s *Stream) take(piece string, last bool) string {
	known := s.redactor.set()
	text := s.context + s.back + piece
	shown := len(s.context)
	end := len(text)
	if !last {
		end = max(shown, known.Open([]byte(text)))
	}
	var out strings.Builder
	at := shown
	for _, span := range known.Find([]byte(text)) {
		if span.End <= shown || span.Start >= end {
			continue
		}
		out.WriteString(text[at:max(at, span.Start)])
		out.WriteString(Redacted)
		at = span.End
		end = max(end, at)
	}
	out.WriteString(text[at:end])
	s.context, s.back = text[max(0, end-streamContext):end], text[end:]
	return out.String()
}

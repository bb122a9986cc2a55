package secret

import "strings"

// streamContext is how many returned bytes a [Stream] keeps as context: an encoding that began
// there may continue.
const streamContext = 256

// Stream removes known secrets from a text that arrives in pieces, including those cut between
// pieces. It holds back a possible beginning of a secret until the next piece. It is not safe
// for concurrent use.
type Stream struct {
	redactor *Redactor
	context  string // The end of the returned text, before redaction.
	back     string // The text held back.
}

// NewStream returns a stream that removes the secrets that r knows at the time.
func NewStream(r *Redactor) *Stream { return &Stream{redactor: r} }

// Next takes the next piece, and returns the text that is safe to show.
func (s *Stream) Next(piece string) string { return s.take(piece, false) }

// Rest returns the text held back, and resets the stream.
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

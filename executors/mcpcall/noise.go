package mcpcall

import (
	"bufio"
	"errors"
	"io"
	"sync/atomic"
)

// errNoise stops reading a command's output.
var errNoise = errors.New("too much output that is not a message")

// messages reads a command's output without the lines that are not messages, such
// as banners and logs, up to maxNoiseLines and maxNoiseBytes. A message is one
// line and begins with a brace (Model Context Protocol 2025-11-25, "stdio").
// Read is for one goroutine.
type messages struct {
	from     *bufio.Reader
	within   bool // Inside a message's line.
	lines    int
	bytes    int
	exceeded atomic.Bool
}

func newMessages(r io.Reader) *messages { return &messages{from: bufio.NewReaderSize(r, 64<<10)} }

// Read implements [io.Reader].
func (m *messages) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for !m.within {
		next, err := m.from.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case next == '{':
			m.within = true
			_ = m.from.UnreadByte() // It was read just now.
		case next != ' ' && next != '\t' && next != '\r' && next != '\n':
			if err := m.skipLine(); err != nil {
				return 0, err
			}
		}
	}
	return m.rest(b)
}

// rest reads the rest of a message's line.
func (m *messages) rest(b []byte) (int, error) {
	if _, err := m.from.Peek(1); err != nil {
		return 0, err
	}
	ready, _ := m.from.Peek(min(m.from.Buffered(), len(b))) // It is buffered.
	n := copy(b, ready)
	for i, c := range ready[:n] {
		if c == '\n' {
			n, m.within = i+1, false
			break
		}
	}
	_, err := m.from.Discard(n)
	return n, err
}

// skipLine drops the rest of a line that is not a message.
func (m *messages) skipLine() error {
	m.lines++
	for {
		part, err := m.from.ReadSlice('\n')
		m.bytes += len(part)
		if m.lines > maxNoiseLines || m.bytes > maxNoiseBytes {
			m.exceeded.Store(true)
			return errNoise
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

package middleware

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxOutput is the maximum output of a running call, in bytes. Output beyond it
// is dropped, after a line that says so: output is for live display, and the
// result has a limit of its own.
const MaxOutput = 1 << 20

const outputCut = "\n… more output was dropped\n"

// bounded forwards output in order, as valid UTF-8, until the call has ended or the
// limit is reached.
type bounded struct {
	next tool.OutputFunc
	left int
}

func (b *bounded) say(text string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	switch {
	case b.left <= 0:
	case len(text) > b.left:
		for b.left > 0 && !utf8.RuneStart(text[b.left]) {
			b.left--
		}
		b.next(text[:b.left] + outputCut)
		b.left = 0
	default:
		b.left -= len(text)
		b.next(text)
	}
}

// cleaned forwards output without known secrets, including those split over two
// pieces: a possible beginning of one is held back until the next piece.
type cleaned struct {
	next tool.OutputFunc

	mu     sync.Mutex
	stream *secret.Stream
}

func (c *cleaned) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text = c.stream.Next(text); text != "" {
		c.next(text)
	}
}

// flush forwards the text held back.
func (c *cleaned) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rest := c.stream.Rest(); rest != "" {
		c.next(rest)
	}
}

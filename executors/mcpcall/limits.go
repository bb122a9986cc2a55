package mcpcall

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of configurations and of servers' answers.
const (
	maxConfigBytes     = 64 << 10
	defaultAnswerBytes = 1 << 20
	maxAnswerBytes     = 16 << 20
	maxDiscardedBytes  = 16 << 20 // Of an oversized answer, read to find its end.

	maxNameBytes        = 128
	maxTitleBytes       = 1 << 10
	maxDescriptionBytes = 16 << 10
	maxInstructionBytes = 16 << 10
	maxSchemaBytes      = 64 << 10
	maxURIBytes         = 2 << 10
	maxExcerptBytes     = 2 << 10 // Of a server's error message.
	maxSessionIDBytes   = 1 << 10
	maxHandshakeBytes   = 256 << 10
	maxRefusalBytes     = 64 << 10

	maxAppBytes   = 2 << 20 // Of an app's HTML.
	maxAppMessage = 2 * maxAppBytes

	maxTools     = 1000
	maxPages     = 100
	maxListBytes = 8 << 20 // Of all pages together.

	maxNoiseLines = 200 // Of a command's output that are not messages.
	maxNoiseBytes = 256 << 10

	maxBlocks         = 256 // Of an answer.
	maxNotifications  = 10_000
	maxServerRequests = 16
	maxStreamRetries  = 3 // Of a stream that was interrupted.

	// closeTimeout bounds the cleanup after a call: the cancellation notice, and
	// ending a session.
	closeTimeout = 5 * time.Second
)

// validToolName reports whether a name can be put into a header and a log line.
func validToolName(name string) bool {
	return name != "" && len(name) <= maxNameBytes && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

package mcpcall

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of what a configuration may be and a server may send.
const (
	maxConfigBytes     = 64 << 10
	defaultAnswerBytes = 1 << 20
	maxAnswerBytes     = 16 << 20
	maxDiscardedBytes  = 16 << 20 // Of an answer beyond its limit, to see its end.

	maxNameBytes        = 128
	maxTitleBytes       = 1 << 10
	maxDescriptionBytes = 16 << 10
	maxInstructionBytes = 16 << 10
	maxSchemaBytes      = 64 << 10
	maxURIBytes         = 2 << 10
	maxExcerptBytes     = 2 << 10 // Of what a server says of a failure.
	maxSessionIDBytes   = 1 << 10
	maxHandshakeBytes   = 256 << 10
	maxRefusalBytes     = 64 << 10

	maxTools     = 1000
	maxPages     = 100
	maxListBytes = 8 << 20 // Of all pages together.

	maxNoiseLines = 200 // That a command prints and that are no messages.
	maxNoiseBytes = 256 << 10

	maxBlocks         = 256 // Of an answer.
	maxNotifications  = 10_000
	maxServerRequests = 16
	maxStreamRetries  = 3 // To go on with a stream that broke off.

	// closeTimeout bounds what is done after a call: saying that it was
	// cancelled, and ending a session.
	closeTimeout = 5 * time.Second
)

// validToolName holds names to what can stand in a header and in a log line.
func validToolName(name string) bool {
	return name != "" && len(name) <= maxNameBytes && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

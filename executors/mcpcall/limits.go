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

	maxNameBytes        = 128
	maxTitleBytes       = 1 << 10
	maxDescriptionBytes = 16 << 10
	maxInstructionBytes = 16 << 10
	maxSchemaBytes      = 64 << 10
	maxTools            = 1000
	maxPages            = 100
	maxListBytes        = 8 << 20 // Of all pages together.
	maxHandshakeBytes   = 256 << 10
	maxSessionIDBytes   = 1 << 10
	maxDepth            = 256 // Of JSON within JSON.
	maxBlocks           = 256 // Of an answer.
	maxNotifications    = 10_000
	maxServerRequests   = 16

	// closeTimeout bounds what is done after a call: saying that it was
	// cancelled, and ending a session.
	closeTimeout = 5 * time.Second
)

// validToolName holds names to what can stand in a header and in a log line.
func validToolName(name string) bool {
	return name != "" && len(name) <= maxNameBytes && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

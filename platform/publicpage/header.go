package publicpage

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

// PolicyHeader is the header of what a page may load.
const PolicyHeader = "Content-Security-Policy"

// Policy allows a page its own style, and, as formAction says, sending its own form; nothing else.
func Policy(style, formAction string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action " + formAction + "; base-uri 'none'; frame-ancestors 'none'"
}

// Protect sets the headers of every answer.
func Protect(h http.Header, policy string) {
	h.Set(PolicyHeader, policy)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

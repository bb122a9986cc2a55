package egress

import (
	"errors"
	"net"

	"github.com/toolcrib/toolcrib/tool"
)

// notAllowed is said of every address that may not be reached, whether it was
// written or resolved, and of names that do not exist: callers must not learn
// which names the inside has, so a name that is certainly absent is Denied like
// one that leads inward, and only failures to find out, which may pass, stay
// Unavailable.
const notAllowed = "the destination is not allowed, or its name does not exist"

func refused(msg string) *tool.Error {
	return &tool.Error{Kind: tool.Denied, Op: "egress", Msg: msg}
}

// absent reports whether a name server knows that a name does not exist.
func absent(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

package egress

import "github.com/toolcrib/toolcrib/tool"

// notAllowed is said of every address that may not be reached, whether it was
// written or resolved: callers must not learn what lies behind a name.
const notAllowed = "the destination is not allowed"

func refused(msg string) *tool.Error {
	return &tool.Error{Kind: tool.Denied, Op: "egress", Msg: msg}
}

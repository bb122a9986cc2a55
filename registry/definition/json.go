package definition

import (
	"bytes"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// SameJSON reports whether two texts are the same JSON, but for white space and
// the order of members. An absent text is the same as an absent one only.
func SameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	x, errX := tool.Canonical(a)
	y, errY := tool.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

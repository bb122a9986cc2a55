package httpcall

import (
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// Needs returns the least egress class under which a tool of this configuration
// can be called, and the method that it sends. It returns the class of reading
// for a configuration that can't be read; [CheckConfig] reports what is wrong
// with it.
func Needs(raw json.RawMessage) (class tool.Egress, method string) {
	c, err := decode(raw)
	if err != nil {
		return tool.EgressReadOnly, ""
	}
	if slices.Contains(hostname.ReadMethods(c.Reads), c.Method) {
		return tool.EgressReadOnly, c.Method
	}
	return tool.EgressWrite, c.Method
}

// DeclaresReads reports whether a configuration declares that its POST only
// reads. A configuration that cannot be read declares nothing.
func DeclaresReads(raw json.RawMessage) bool {
	c, err := decode(raw)
	return err == nil && c.Reads
}

package httpcall

import (
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// Needs returns the least egress class under which a tool of this configuration
// can be called, and its HTTP method: with destinations, those of the one that needs
// most. It returns the class of reading for a configuration that cannot be parsed;
// [CheckConfig] reports the fault.
func Needs(raw json.RawMessage) (class tool.Egress, method string) {
	for _, c := range requests(raw) {
		if method = c.Method; !slices.Contains(hostname.ReadMethods(c.Reads), method) {
			return tool.EgressWrite, method
		}
	}
	return tool.EgressReadOnly, method
}

// DeclaresReads reports whether a configuration declares its POST read-only; false
// for a configuration that cannot be parsed.
func DeclaresReads(raw json.RawMessage) bool {
	c, err := decode(raw)
	return err == nil && c.Reads
}

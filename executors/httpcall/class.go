package httpcall

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/tool"
)

// Needs returns the least egress class under which a tool of this
// configuration can be called, and the method that it sends. A configuration
// that can't be read needs no more than reading: [CheckConfig] tells what is
// wrong with it.
func Needs(raw json.RawMessage) (class tool.Egress, method string) {
	c, err := decode(raw)
	if err != nil {
		return tool.EgressReadOnly, ""
	}
	if c.Method == "" {
		c.Method = http.MethodGet
	}
	if slices.Contains(hostname.ReadMethods(), c.Method) {
		return tool.EgressReadOnly, c.Method
	}
	return tool.EgressWrite, c.Method
}

package activities

import (
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// preview returns the part of content that is in histories.
func preview(content []tool.Content) string { return wire.Preview(content) }

package remote

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// images are the image types that every provider with vision accepts.
var images = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// IsImage reports whether a block is an image that can be shown to a model.
func IsImage(c tool.Content) bool {
	return c.Type == tool.ContentImage && len(c.Data) > 0 && images[c.MIMEType]
}

// Describe returns a block as text: its text, or a description of a block without
// text. Blocks of a provider's own tools have none: they are sent back to that
// provider only.
func Describe(c tool.Content) string {
	if _, ok := agent.BlockProvider(c); ok {
		return ""
	}
	switch c.Type {
	case tool.ContentText:
		return c.Text
	case tool.ContentJSON:
		return string(c.JSON)
	case tool.ContentImage, tool.ContentAudio, tool.ContentResource:
		if c.Type == tool.ContentResource && c.Text != "" {
			return fmt.Sprintf("%s:\n%s", label(c), c.Text)
		}
		return label(c)
	default:
		return label(c)
	}
}

// label describes a block without text: "[image chart.png, image/tiff, 512 bytes]".
func label(c tool.Content) string {
	parts := []string{strings.TrimSpace(string(c.Type) + " " + c.Name)}
	for _, part := range []string{c.URI, c.MIMEType} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(c.Data) > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", len(c.Data)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Texts returns all blocks as text, each on lines of its own.
func Texts(content []tool.Content) string {
	var out []string
	for _, c := range content {
		if text := Describe(c); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

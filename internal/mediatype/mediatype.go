// Package mediatype classifies media types.
package mediatype

import "strings"

// IsJSON reports whether content of a media type is JSON. It expects the type
// without parameters and in lower case, as [mime.ParseMediaType] returns it.
func IsJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

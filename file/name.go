package file

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds the name of a file, in bytes.
const maxName = 200

// CleanName returns a name that is safe to show and to save under: without folders, control and
// formatting characters, and with an extension that its media type has. "file" stands for none.
func CleanName(name, mediaType string) string {
	name = strings.ToValidUTF8(name, "_")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			return -1
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	name = strings.Trim(name, " .")
	if name == "" {
		name = "file"
	}
	extensions := allowed[mediaType]
	suffix := ""
	if len(extensions) > 0 && !slices.Contains(extensions, strings.ToLower(path.Ext(name))) {
		suffix = extensions[0]
	}
	return strings.TrimRight(clip(name, maxName-len(suffix)), " .") + suffix
}

// clip cuts a name to so many bytes, and keeps its extension.
func clip(name string, most int) string {
	if len(name) <= most {
		return name
	}
	extension := path.Ext(name)
	if len(extension) > 16 {
		extension = ""
	}
	cut := most - len(extension)
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + extension
}

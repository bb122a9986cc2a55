package file

import (
	"archive/zip"
	"bytes"
	"path"
	"strings"
)

// Bounds of documents that are archives: who opens one must not run out of memory.
const (
	maxEntries  = 5000
	maxUnpacked = 512 << 20 // Bytes of all entries, as they say themselves.
	maxRatio    = 200       // Of an entry's size to that in the archive.
	maxTypes    = 1 << 20   // Bytes of the list of an office document's parts.
)

// walkZip tells documents of an office suite, which are archives, from other archives. Nothing is
// unpacked but the list of the parts' types and the beginning of the main part.
func walkZip(content []byte) (string, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", refuse("the document is damaged, or an archive that cannot be read")
	}
	if len(archive.File) > maxEntries {
		return "", refuse("the document has more than %d parts", maxEntries)
	}
	names := map[string]bool{}
	var unpacked uint64
	for _, f := range archive.File {
		switch {
		case names[f.Name] || !plainPath(f.Name) || f.Flags&1 != 0:
			return "", refuse("the document has a part that is given twice, encrypted or outside of it")
		case strings.EqualFold(path.Base(f.Name), "vbaProject.bin"):
			return "", refuse("documents with macros are not accepted")
		case f.UncompressedSize64 > 1<<20 && f.UncompressedSize64 > maxRatio*max(1, f.CompressedSize64),
			f.UncompressedSize64 > maxUnpacked:
			return "", refuse("the document has a part that is too large when it is unpacked")
		}
		names[f.Name] = true
		unpacked += f.UncompressedSize64
	}
	switch {
	case unpacked > maxUnpacked:
		return "", refuse("the document is too large when it is unpacked")
	case names["[Content_Types].xml"] && (names["word/document.xml"] || names["xl/workbook.xml"]):
		return officeType(archive)
	}
	return "", refuse("archives are not accepted: send %s", list())
}

// plainPath reports whether the name of a part leads nowhere else.
func plainPath(name string) bool {
	return name != "" && !strings.HasPrefix(name, "/") && !strings.ContainsAny(name, "\\\x00:") &&
		path.Clean(name) == strings.TrimSuffix(name, "/") && !strings.HasPrefix(path.Clean(name), "..")
}

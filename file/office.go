package file

import (
	"archive/zip"
	"encoding/xml"
	"io"
	"strings"
)

// office is what makes an archive a document of a media type: its main part, that part's type and
// its root element. Templates, and documents that hold macros, have others.
type office struct {
	mediaType, part, contentType string
	root                         xml.Name
}

var offices = []office{
	{
		DOCX, "word/document.xml", DOCX + ".main+xml",
		xml.Name{Space: "http://schemas.openxmlformats.org/wordprocessingml/2006/main", Local: "document"},
	},
	{
		XLSX, "xl/workbook.xml", XLSX + ".main+xml",
		xml.Name{Space: "http://schemas.openxmlformats.org/spreadsheetml/2006/main", Local: "workbook"},
	},
}

// strictPrefix begins the namespaces of documents in the strict form of the format, whose ends are
// the same.
const strictPrefix = "http://purl.oclc.org/ooxml/"

// officeType returns the media type of a document. Exactly one main part has to be there, with the
// type that the document's list of parts gives it.
func officeType(archive *zip.Reader) (string, error) {
	types, err := partTypes(archive)
	if err != nil {
		return "", err
	}
	var found string
	for _, o := range offices {
		file := part(archive, o.part)
		switch {
		case file == nil && types["/"+o.part] == "":
			continue
		case file == nil, !strings.EqualFold(types["/"+o.part], o.contentType):
			return "", refuse("the document's list of parts does not name %s as the main part of a document", o.part)
		case found != "":
			return "", refuse("the document is of two types")
		case !hasRoot(file, o.root):
			return "", refuse("the document is damaged: its main part %s is none", o.part)
		}
		found = o.mediaType
	}
	return found, nil
}

// partTypes reads the types of the parts that are listed by name.
func partTypes(archive *zip.Reader) (map[string]string, error) {
	damaged := refuse("the document is damaged: its list of parts cannot be read")
	listed := part(archive, "[Content_Types].xml")
	if listed == nil || listed.UncompressedSize64 > maxTypes {
		return nil, damaged
	}
	content, err := listed.Open()
	if err != nil {
		return nil, damaged
	}
	defer func() { _ = content.Close() }()
	var types struct {
		XMLName   xml.Name `xml:"http://schemas.openxmlformats.org/package/2006/content-types Types"`
		Overrides []struct {
			PartName    string `xml:"PartName,attr"`
			ContentType string `xml:"ContentType,attr"`
		} `xml:"Override"`
	}
	if err := xml.NewDecoder(io.LimitReader(content, maxTypes)).Decode(&types); err != nil {
		return nil, damaged
	}
	out := make(map[string]string, len(types.Overrides))
	for _, o := range types.Overrides {
		if _, twice := out[o.PartName]; twice {
			return nil, damaged
		}
		out[o.PartName] = o.ContentType
	}
	return out, nil
}

func part(archive *zip.Reader, name string) *zip.File {
	for _, f := range archive.File {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// hasRoot reports whether a part begins as XML with the given root element, and without
// declarations of entities.
func hasRoot(f *zip.File, want xml.Name) bool {
	content, err := f.Open()
	if err != nil {
		return false
	}
	defer func() { _ = content.Close() }()
	decoder := xml.NewDecoder(io.LimitReader(content, maxTypes))
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		switch token := token.(type) {
		case xml.Directive:
			return false
		case xml.StartElement:
			strict := strings.HasPrefix(token.Name.Space, strictPrefix) && strings.HasSuffix(token.Name.Space, "/main")
			return token.Name.Local == want.Local && (token.Name.Space == want.Space || strict)
		}
	}
}

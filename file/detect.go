package file

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Media types that files may have.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	GIF  = "image/gif"
	WebP = "image/webp"
	PDF  = "application/pdf"
	Text = "text/plain"
	CSV  = "text/csv"
	JSON = "application/json"
	DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)

// allowed has the extensions of each media type, the usual one first.
var allowed = map[string][]string{
	PNG: {".png"}, JPEG: {".jpg", ".jpeg"}, GIF: {".gif"}, WebP: {".webp"}, PDF: {".pdf"},
	Text: {".txt", ".text", ".md", ".log", ".csv", ".tsv"}, CSV: {".csv", ".txt"}, JSON: {".json", ".txt"},
	DOCX: {".docx"}, XLSX: {".xlsx"},
}

// MediaTypes returns the media types that files may have, sorted.
func MediaTypes() []string { return slices.Sorted(maps.Keys(allowed)) }

// Images bounds the images that are accepted: who opens one must not run out of memory.
const (
	MaxPixels = 50_000_000
	MaxSide   = 20_000 // Pixels.
)

// Detected is what a content is.
type Detected struct {
	MediaType     string
	Width, Height int // Of an image.
}

// Detect says what a content is, from itself alone: its whole structure is walked, so that a file of
// one type that another program could take for one of another type is refused as far as that can
// be seen. It decompresses nothing but a document's list of parts and the beginning of its main
// part. HTML, SVG and other markup, programs, archives and whatever else is not in [MediaTypes] is
// refused with tool.Invalid, as are images that are too large.
func Detect(content []byte) (Detected, error) {
	var d Detected
	var err error
	switch {
	case len(content) == 0:
		return d, refuse("the file is empty")
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		d.MediaType, err = PNG, walkPNG(content)
	case bytes.HasPrefix(content, []byte("\xff\xd8\xff")):
		d.MediaType, err = JPEG, walkJPEG(content)
	case bytes.HasPrefix(content, []byte("GIF87a")), bytes.HasPrefix(content, []byte("GIF89a")):
		d.MediaType, err = GIF, walkGIF(content)
	case len(content) >= 12 && string(content[:4]) == "RIFF" && string(content[8:12]) == "WEBP":
		d.MediaType = WebP
		d.Width, d.Height, err = walkWebP(content)
	case bytes.HasPrefix(content, []byte("%PDF-")):
		d.MediaType, err = PDF, walkPDF(content)
	case bytes.HasPrefix(content, []byte("PK\x03\x04")):
		d.MediaType, err = walkZip(content)
	default:
		d.MediaType, err = walkText(content)
	}
	if err != nil {
		return Detected{}, err
	}
	if strings.HasPrefix(d.MediaType, "image/") {
		return measure(d, content)
	}
	return d, nil
}

func refuse(format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "file.Detect", Msg: fmt.Sprintf(format, args...)}
}

// measure reads the size of an image, from its header alone.
func measure(d Detected, content []byte) (Detected, error) {
	if d.MediaType != WebP {
		config, err := decodeConfig(d.MediaType, content)
		if err != nil {
			return Detected{}, refuse("the image is damaged: its header cannot be read")
		}
		d.Width, d.Height = config.Width, config.Height
	}
	switch {
	case d.Width < 1 || d.Height < 1:
		return Detected{}, refuse("the image is damaged: it has no size")
	case d.Width > MaxSide || d.Height > MaxSide || d.Width*d.Height > MaxPixels:
		return Detected{}, refuse("the image has %d by %d pixels: at most %d altogether and %d at a side are accepted",
			d.Width, d.Height, MaxPixels, MaxSide)
	}
	return d, nil
}

func decodeConfig(mediaType string, content []byte) (image.Config, error) {
	decode := decoders[mediaType]
	config, err := decode(bytes.NewReader(content))
	if err != nil {
		return config, fmt.Errorf("reading the header of an image: %w", err)
	}
	return config, nil
}

// walkPDF checks the beginning and the end of a PDF.
func walkPDF(content []byte) error {
	if len(content) < 8 || content[5] != '1' && content[5] != '2' || content[6] != '.' {
		return refuse("the file begins like a PDF and is none")
	}
	end := content[max(0, len(content)-1024):]
	i := bytes.LastIndex(end, []byte("%%EOF"))
	if i < 0 || len(bytes.TrimSpace(bytes.Trim(end[i+len("%%EOF"):], "\x00"))) > 0 {
		return refuse("the PDF is incomplete, or something follows its end")
	}
	return nil
}

// walkText tells texts apart: JSON, a table, and others. Markup is refused: a browser that took it
// for a page would run what is in it.
func walkText(content []byte) (string, error) {
	text := bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) || bytes.ContainsFunc(text, unprintable) {
		return "", refuse("files of this type are not accepted: send %s", list())
	}
	body := bytes.TrimSpace(text)
	switch {
	case len(body) == 0:
		return "", refuse("the file is empty")
	case looksLikeMarkup(body):
		return "", refuse("HTML, SVG and other markup is not accepted: send a PDF, an image or plain text")
	case (body[0] == '{' || body[0] == '[') && json.Valid(body):
		return JSON, nil
	case isTable(text):
		return CSV, nil
	}
	return Text, nil
}

func list() string { return "an image (PNG, JPEG, GIF, WebP), a PDF, a text, CSV, JSON, DOCX or XLSX" }

// unprintable reports whether a character is in no text.
func unprintable(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' || r == 0x7f
}

// looksLikeMarkup reports whether a text begins as HTML, SVG and XML do, or has what makes a browser
// guess so.
func looksLikeMarkup(body []byte) bool {
	if body[0] == '<' && len(body) > 1 {
		c := body[1] | 0x20
		if c >= 'a' && c <= 'z' || body[1] == '!' || body[1] == '?' || body[1] == '/' {
			return true
		}
	}
	head := bytes.ToLower(body[:min(len(body), 1024)])
	return slices.ContainsFunc([]string{"<script", "<html", "<svg", "<iframe", "<!doctype"}, func(tag string) bool {
		return bytes.Contains(head, []byte(tag))
	})
}

// isTable reports whether a text is a table of at least two columns and two rows, with equally many
// fields in each. Only the beginning is read.
func isTable(text []byte) bool {
	const looked = 64
	reader := csv.NewReader(bytes.NewReader(text))
	reader.ReuseRecord = true
	rows := 0
	for rows < looked {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || len(record) < 2 {
			return false
		}
		rows++
	}
	return rows > 1
}

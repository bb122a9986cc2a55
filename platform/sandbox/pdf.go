package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ledongthuc/pdf"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// pdfEngine extracts the text of PDF documents. It decodes no images, runs no
// scripts, and follows no external references.
type pdfEngine struct{}

func (pdfEngine) compile([]byte, sandbox.Limits) (program, error) { return pdfProgram{}, nil }

type pdfProgram struct{}

// maxTreeDepth bounds the nesting of a document's page tree and of forms.
const maxTreeDepth = 32

func (pdfProgram) run(ctx context.Context, m machine) (result []byte, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			result, err = nil, malformedPDF(fmt.Sprint(caught))
		}
	}()
	r, err := openPDF(m.input)
	if err != nil {
		return nil, err
	}
	d := &pdfDocument{ctx: ctx, fonts: make(map[string]*pdfFont), left: m.limits.Output}
	root := r.Trailer().Key("Root")
	if err := d.walk(root.Key("Pages"), pdf.Value{}, 0); err != nil {
		return nil, err
	}
	if len(d.text.Pages) == 0 {
		return nil, malformedPDF("it has no pages")
	}
	if d.broken != nil && d.bare() {
		return nil, malformedPDF(d.broken.Error())
	}
	d.text.Title = cleanPDF(r.Trailer().Key("Info").Key("Title").Text())
	raw, err := json.Marshal(d.text)
	if err != nil {
		return nil, fmt.Errorf("encoding text: %w", err)
	}
	return raw, nil
}

// openPDF opens a document. The library supports versions up to 1.7; for text,
// files of 2.0 do not differ.
func openPDF(raw []byte) (*pdf.Reader, error) {
	if start := bytes.Index(raw[:min(len(raw), 1024)], []byte("%PDF-")); start >= 0 && len(raw) > start+10 {
		raw = bytes.Clone(raw[start:])
		copy(raw[len("%PDF-"):], "1.7\n")
	}
	if end := bytes.LastIndex(raw, []byte("%%EOF")); end >= 0 {
		raw = raw[:end+len("%%EOF")]
	}
	r, err := pdf.NewReader(bytes.NewReader(raw), int64(len(raw)))
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword):
		return nil, &sandbox.ProgramError{Class: sandbox.BadInput, Msg: "the PDF is encrypted: save it without a password"}
	case err != nil && encryptionFault(err.Error()):
		return nil, &sandbox.ProgramError{
			Class: sandbox.BadInput, Msg: "the PDF is encrypted in a way that is not supported: save it without encryption",
		}
	case err != nil:
		return nil, malformedPDF(err.Error())
	}
	return r, nil
}

// encryptionFault reports whether an error of the library means that it does not
// support a document's encryption. It compares the prefix, which a document cannot
// influence: the library has no error type for it.
func encryptionFault(text string) bool {
	for _, begins := range []string{
		"unsupported PDF: encryption ", "malformed PDF: encryption ", "malformed PDF: missing O= or U= encryption ",
	} {
		if strings.HasPrefix(text, begins) {
			return true
		}
	}
	return false
}

func malformedPDF(why string) error {
	return &sandbox.ProgramError{
		Class: sandbox.BadInput, Msg: "the PDF can't be read: " + strings.ToValidUTF8(why, "\uFFFD"),
	}
}

// pdfDocument is a document that is being read.
type pdfDocument struct {
	ctx    context.Context //nolint:containedctx // It lives for one run.
	text   sandbox.PDFText
	fonts  map[string]*pdfFont // By their spelling in the document.
	nodes  int
	left   int64 // Remaining bytes of text.
	broken error // Why the text of a page is incomplete.
}

// walk reads the pages below a node of the tree, which inherit its resources.
func (d *pdfDocument) walk(node, resources pdf.Value, depth int) error {
	if d.nodes++; d.nodes > 2*sandbox.MaxPDFPages || depth > maxTreeDepth {
		return malformedPDF("its page tree is too deep or cyclic")
	}
	if own := node.Key("Resources"); !own.IsNull() {
		resources = own
	}
	kids := node.Key("Kids")
	if kids.Kind() != pdf.Array {
		if node.Kind() != pdf.Dict {
			return nil
		}
		return d.page(node, resources)
	}
	for i := range kids.Len() {
		if err := d.walk(kids.Index(i), resources, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// page reads a page. If it is broken, the text before the fault is kept.
func (d *pdfDocument) page(node, resources pdf.Value) error {
	if err := d.ctx.Err(); err != nil {
		return fmt.Errorf("reading pages: %w", err)
	}
	if len(d.text.Pages) == sandbox.MaxPDFPages {
		return &sandbox.ProgramError{
			Class: sandbox.OverSize,
			Msg:   fmt.Sprintf("the PDF has more than %d pages: split it into several", sandbox.MaxPDFPages),
		}
	}
	w := &pdfWriter{left: d.left}
	if err := d.draw(w, node.Key("Contents"), resources, identity, 0); err != nil {
		if errors.Is(err, errTooMuchText) || d.ctx.Err() != nil {
			return err
		}
		d.broken = err
	}
	text := cleanPDF(w.b.String())
	d.left -= int64(len(text))
	d.text.Pages = append(d.text.Pages, text)
	return nil
}

// bare reports whether no page has any text.
func (d *pdfDocument) bare() bool {
	for _, p := range d.text.Pages {
		if p != "" {
			return false
		}
	}
	return true
}

var ligatures = strings.NewReplacer(
	"ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st", "\u00ad", "", "\u00a0", " ", "\t", " ",
)

// cleanPDF normalizes a text for search.
func cleanPDF(s string) string {
	s = ligatures.Replace(strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n ")
}

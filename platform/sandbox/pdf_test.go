package sandbox_test

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// paper writes a PDF, object by object.
type paper struct {
	b       bytes.Buffer
	offsets []int
	trailer string // Further entries.
}

// add writes an object and returns its number.
func (p *paper) add(body string) int {
	if p.b.Len() == 0 {
		p.b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	}
	p.offsets = append(p.offsets, p.b.Len())
	fmt.Fprintf(&p.b, "%d 0 obj\n%s\nendobj\n", len(p.offsets), body)
	return len(p.offsets)
}

func (p *paper) stream(dict, data string) int {
	return p.add(fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data))
}

// close returns the document, whose catalog is object 1.
func (p *paper) close() []byte {
	at := p.b.Len()
	fmt.Fprintf(&p.b, "xref\n0 %d\n0000000000 65535 f \n", len(p.offsets)+1)
	for _, o := range p.offsets {
		fmt.Fprintf(&p.b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&p.b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(p.offsets)+1, p.trailer, at)
	return p.b.Bytes()
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"

// newPaper returns a document with a page for each content, whose font is F1.
func newPaper(contents ...string) *paper {
	p := &paper{}
	p.add("<< /Type /Catalog /Pages 2 0 R >>")
	var kids strings.Builder
	for i := range contents {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	p.add(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d /Resources << /Font << /F1 3 0 R >> >> >>", kids.String(),
		len(contents)))
	p.add(helvetica)
	for i, c := range contents {
		p.add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %d 0 R >>", 5+2*i))
		p.stream("", c)
	}
	return p
}

func readPDF(t *testing.T, p *sandbox.Pool, doc []byte) (sandbox.PDFText, error) {
	t.Helper()
	out, err := run(t, p, sandbox.Job{Language: sandbox.PDF, Input: doc, Limits: sandbox.PDFLimits})
	var text sandbox.PDFText
	if err == nil {
		require.NoError(t, json.Unmarshal([]byte(out), &text))
	}
	return text, err
}

func TestPDFText(t *testing.T) {
	t.Parallel()
	p := newPool(t)

	deflated := func(s string) string {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, err := z.Write([]byte(s))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return b.String()
	}
	tests := []struct {
		name string
		doc  func() []byte
		want []string
	}{
		{"Lines", func() []byte {
			return newPaper("BT /F1 12 Tf 14 TL 72 700 Td (Returns are free) Tj T* (within 30 days.) Tj ET").close()
		}, []string{"Returns are free\nwithin 30 days."}},
		{"Paragraphs", func() []byte {
			return newPaper("BT /F1 12 Tf 72 700 Td (One.) Tj 0 -14 Td (Still one.) Tj 0 -40 Td (Two.) Tj ET").close()
		}, []string{"One.\nStill one.\n\nTwo."}},
		{"PiecesOfALine", func() []byte {
			return newPaper("BT /F1 10 Tf 72 700 Td [(Wo) -20 (rds) -400 (apart)] TJ ET " +
				"BT /F1 10 Tf 300 700 Td (far) Tj ET").close()
		}, []string{"Words apart far"}},
		{"Hyphens", func() []byte {
			return newPaper("BT /F1 12 Tf 14 TL 72 700 Td (a re-) Tj T* (turned parcel, ABC-) Tj T* (DE) Tj ET").close()
		}, []string{"a returned parcel, ABC-\nDE"}},
		{"Accents", func() []byte {
			return newPaper("BT /F1 12 Tf 72 700 Td (caf\\351 \\200 5) Tj ET").close()
		}, []string{"café € 5"}},
		{"Pages", func() []byte {
			return newPaper("BT /F1 12 Tf (first) Tj ET", "", "BT /F1 12 Tf (third) Tj ET").close()
		}, []string{"first", "", "third"}},
		{"Compressed", func() []byte {
			p := newPaper("")
			p.add("<< >>")
			body := deflated("BT /F1 12 Tf (deflated) Tj ET")
			n := p.stream("/Filter /FlateDecode", body)
			return bytes.Replace(p.close(), []byte("/Contents 5 0 R"), fmt.Appendf(nil, "/Contents %d 0 R", n), 1)
		}, []string{"deflated"}},
		{"Forms", func() []byte { return formPaper("BT /F9 12 Tf (in a form) Tj ET") }, []string{"in a form"}},
		{"Unicode", func() []byte {
			p := newPaper("BT /F1 12 Tf <00010002> Tj ET")
			cmap := p.stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <0000> "+
				"<FFFF> endcodespacerange "+
				"2 beginbfchar <0001> <9000> <0002> <8D27> endbfchar endcmap CMapName currentdict /CMap defineresource pop end end")
			doc := p.close()
			return bytes.Replace(
				doc, []byte(helvetica),
				[]byte(pad("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode "+strconv.Itoa(cmap)+" 0 R >>",
					len(helvetica))),
				1,
			)
		}, []string{"退货"}},
		{"Version2", func() []byte {
			return bytes.Replace(newPaper("BT /F1 12 Tf (newer) Tj ET").close(), []byte("%PDF-1.4"), []byte("%PDF-2.0"), 1)
		}, []string{"newer"}},
		{"WordsBehind", func() []byte {
			return append(newPaper("BT /F1 12 Tf (kept) Tj ET").close(), bytes.Repeat([]byte("\x00 "), 400)...)
		}, []string{"kept"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := readPDF(t, p, tt.doc())
			require.NoError(t, err)
			require.Equal(t, tt.want, got.Pages)
		})
	}
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-len(s))) }

// formPaper returns a document whose page draws a form, which may draw itself.
func formPaper(form string) []byte {
	p := &paper{}
	p.add("<< /Type /Catalog /Pages 2 0 R >>")
	p.add("<< /Type /Pages /Kids [4 0 R] /Count 1 >>")
	p.add(helvetica)
	p.add("<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /XObject << /X1 6 0 R >> >> >>")
	p.stream("", "q /X1 Do Q")
	p.stream("/Type /XObject /Subtype /Form /Resources << /Font << /F9 3 0 R >> /XObject << /X1 6 0 R >> >>", form)
	return p.close()
}

func TestPDFTitle(t *testing.T) {
	t.Parallel()

	doc := newPaper("BT /F1 12 Tf (text) Tj ET")
	doc.trailer = fmt.Sprintf("/Info %d 0 R", doc.add("<< /Title (Return policy) >>"))
	got, err := readPDF(t, newPool(t), doc.close())
	require.NoError(t, err)
	require.Equal(t, "Return policy", got.Title)
}

// Whatever a document is, reading it ends, says what is wrong, and leaves the
// sandbox to the next.
func TestHostilePDFs(t *testing.T) {
	t.Parallel()
	p := newPool(t)

	plain := newPaper("BT /F1 12 Tf (text) Tj ET").close()
	bomb := func() []byte {
		var b bytes.Buffer
		z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
		require.NoError(t, err)
		_, err = z.Write([]byte("BT /F1 12 Tf "))
		require.NoError(t, err)
		line := []byte(strings.Repeat("(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ", 1000))
		for range 2000 {
			_, err = z.Write(line)
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		d := newPaper("")
		n := d.stream("/Filter /FlateDecode", b.String())
		return bytes.Replace(d.close(), []byte("/Contents 5 0 R"), fmt.Appendf(nil, "/Contents %d 0 R", n), 1)
	}
	object := func(body string) []byte { // A document whose pages are that.
		d := &paper{}
		d.add("<< /Type /Catalog /Pages 2 0 R >>")
		d.add(body)
		return d.close()
	}
	encrypted := newPaper("BT ET")
	encrypted.trailer = "/Encrypt << /Filter /Standard /V 1 /R 2 /O (" + strings.Repeat("o", 32) + ") /U (" +
		strings.Repeat("u", 32) + ") /P -4 >> /ID [(a) (b)]"
	many := make([]string, sandbox.MaxPDFPages+1)
	for name, tt := range map[string]struct {
		doc     []byte
		says    string // Empty where any of the classes will do.
		classes []sandbox.Class
	}{
		"Nothing":       {[]byte{}, "can't be read", nil},
		"NotAPDF":       {[]byte("<html>"), "can't be read", nil},
		"Half":          {plain[:len(plain)/2], "can't be read", nil},
		"NoTable":       {bytes.Replace(plain, []byte("xref\n0"), []byte("xxxx\n0"), 1), "can't be read", nil},
		"Encrypted":     {encrypted.close(), "encrypted", nil},
		"PagesInPages":  {object("<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"), "too deep or cyclic", nil},
		"NoPages":       {object("<< /Type /Pages /Kids [] /Count 0 >>"), "no pages", nil},
		"PagesOfNumber": {object("7"), "no pages", nil},
		"TooManyPages":  {newPaper(many...).close(), "more than 5000 pages", nil},
		"Bomb":          {bomb(), "", []sandbox.Class{sandbox.OverSize, sandbox.OverTime, sandbox.OverSpace}},
		"Deep": {
			object(strings.Repeat("[", 1<<20)), "", []sandbox.Class{sandbox.BadInput, sandbox.OverDepth, sandbox.OverSpace},
		},
		"FormsInForms": {formPaper(strings.Repeat("/X1 Do ", 10)), "too many forms", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := readPDF(t, p, tt.doc)
			require.Error(t, err)
			if tt.says != "" {
				require.ErrorContains(t, err, tt.says)
				return
			}
			require.Contains(t, tt.classes, classOf(err), err)
			text, err := readPDF(t, p, plain)
			require.NoError(t, err)
			require.Equal(t, []string{"text"}, text.Pages)
		})
	}
}

// What refers to itself is read as far as it goes.
func TestPDFsInCircles(t *testing.T) {
	t.Parallel()
	p := newPool(t)

	got, err := readPDF(t, p, formPaper("/X1 Do BT /F9 12 Tf (again) Tj ET"))
	require.NoError(t, err)
	require.Len(t, got.Pages, 1)
	require.Contains(t, got.Pages[0], "again")

	d := newPaper("")
	n := d.add("<< /Length 6 0 R >>\nstream\nBT ET\nendstream")
	got, err = readPDF(
		t, p, bytes.Replace(d.close(), []byte("/Contents 5 0 R"), fmt.Appendf(nil, "/Contents %d 0 R", n), 1),
	)
	require.NoError(t, err)
	require.Equal(t, []string{""}, got.Pages)
}

// Damage in one place never brings the child down, nor keeps it longer than it
// may take.
func TestDamagedPDFs(t *testing.T) {
	t.Parallel()
	p := newPool(t)

	doc := newPaper("BT /F1 12 Tf 14 TL 72 700 Td (Returns are free) Tj T* [(within) -300 (30 days.)] TJ ET",
		"BT /F1 12 Tf (two) Tj ET").close()
	limits := sandbox.PDFLimits
	limits.Time = sandbox.MaxLimits.Time
	for i := 0; i < len(doc); i += 7 {
		broken := bytes.Clone(doc)
		broken[i] ^= 0x15
		_, err := run(t, p, sandbox.Job{Language: sandbox.PDF, Input: broken, Limits: limits})
		if err != nil {
			require.NotEmpty(t, classOf(err), "byte %d: %v", i, err)
			require.NotEqual(t, sandbox.Crashed, classOf(err), "byte %d: %v", i, err)
		}
	}
}

package sandbox

import (
	"strings"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// guessedWidth is the assumed width of a letter without one in the font, in
// thousandths of its size.
const guessedWidth = 500

// maxWidths bounds how many widths of a font are kept.
const maxWidths = 1 << 16

// pdfFont decodes strings of one font. The zero value is a font without widths
// and encoding.
type pdfFont struct {
	decode func(raw string) string
	wide   bool        // Codes have two bytes, and not one.
	known  [256]string // The text of codes of one byte, as they are decoded.
	widths map[int]float64
	width  float64 // Of codes that widths lacks.
}

// font returns a font of the resources. It is identified by its spelling in the
// document: a reference, or the whole definition.
func (d *pdfDocument) font(resources pdf.Value, name string) *pdfFont {
	fonts := resources.Key("Font")
	key := name + "\x00" + fonts.String()
	if f := d.fonts[key]; f != nil {
		return f
	}
	f := newFont(fonts.Key(name))
	if len(d.fonts) < 1000 {
		d.fonts[key] = f
	}
	return f
}

func newFont(v pdf.Value) *pdfFont {
	f := &pdfFont{wide: v.Key("Subtype").Name() == "Type0", widths: make(map[int]float64), width: guessedWidth}
	if v.Kind() != pdf.Dict {
		return f
	}
	font := &pdf.Font{V: v}
	f.decode = font.Encoder().Decode
	if !f.wide {
		first, widths := font.FirstChar(), v.Key("Widths")
		for i := range min(widths.Len(), 256) {
			f.widths[first+i] = widths.Index(i).Float64()
		}
		return f
	}
	below := v.Key("DescendantFonts").Index(0)
	f.width = 1000
	if w := below.Key("DW"); !w.IsNull() {
		f.width = w.Float64()
	}
	f.readWide(list(below.Key("W")))
	return f
}

// readWide reads widths written as "first [w w w]" and "first last w".
func (f *pdfFont) readWide(all []pdf.Value) {
	for len(all) >= 2 && len(f.widths) < maxWidths {
		first := int(all[0].Int64())
		if all[1].Kind() == pdf.Array {
			for i, w := range list(all[1]) {
				f.widths[first+i] = w.Float64()
			}
			all = all[2:]
			continue
		}
		if len(all) < 3 {
			return
		}
		for code := first; code <= int(all[1].Int64()) && len(f.widths) < maxWidths; code++ {
			f.widths[code] = all[2].Float64()
		}
		all = all[3:]
	}
}

// read returns the text of a string, its width in thousandths of the font's size,
// and its number of letters.
func (f *pdfFont) read(raw string) (text string, width float64, n int) {
	if f.wide {
		for i := 0; i+1 < len(raw); i += 2 {
			width += f.widthOf(int(raw[i])<<8 | int(raw[i+1]))
		}
		return f.say(raw), width, len(raw) / 2
	}
	var b strings.Builder
	for i := range len(raw) {
		width += f.widthOf(int(raw[i]))
		if f.known[raw[i]] == "" {
			f.known[raw[i]] = f.say(raw[i : i+1])
		}
		b.WriteString(f.known[raw[i]])
	}
	return b.String(), width, len(raw)
}

func (f *pdfFont) widthOf(code int) float64 {
	if w, ok := f.widths[code]; ok && w > 0 {
		return w
	}
	return f.width
}

// say decodes a string. Without an encoding, it is decoded as Latin-1.
func (f *pdfFont) say(raw string) string {
	text := raw
	if f.decode != nil {
		text = f.decode(raw)
	}
	if utf8.ValidString(text) {
		return text
	}
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

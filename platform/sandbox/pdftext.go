package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// matrix is a transformation [a b c d e f], as PDF writes them.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times returns the transformation that is m and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func moved(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

// pen is the state of text on a page.
type pen struct {
	page, text, line matrix
	font             *pdfFont
	size, leading    float64
	spacing, words   float64
	stretch          float64
}

// show writes a string, and advances by its width.
func (p *pen) show(w *pdfWriter, raw string) error {
	at := p.text.times(p.page)
	text, width, n := p.font.read(raw)
	height := math.Abs(p.size) * math.Hypot(at[2], at[3])
	advance := width * p.size / 1000
	advance += float64(n)*p.spacing + float64(strings.Count(raw, " "))*p.words
	advance *= p.stretch
	p.text = moved(advance, 0).times(p.text)
	after := p.text.times(p.page)
	return w.put(text, at[4], at[5], after[4], after[5], height)
}

func (p *pen) nextLine(x, y float64) {
	p.line = moved(x, y).times(p.line)
	p.text = p.line
}

// draw reads the text of a page's content, or of a form on it.
func (d *pdfDocument) draw(w *pdfWriter, content, resources pdf.Value, page matrix, depth int) (err error) {
	defer func() {
		if caught := recover(); caught != nil {
			if err, _ = caught.(error); err == nil || !errors.Is(err, errTooMuchText) {
				err = fmt.Errorf("page %d: %v", len(d.text.Pages)+1, caught)
			}
		}
	}()
	if content.Kind() != pdf.Stream && content.Kind() != pdf.Array {
		return nil
	}
	p := &pen{page: page, text: identity, line: identity, stretch: 1, font: &pdfFont{}}
	var saved []pen
	fonts, steps := make(map[string]*pdfFont), 0
	pdf.Interpret(content, func(stack *pdf.Stack, op string) {
		if steps++; steps%1000 == 0 && d.ctx.Err() != nil {
			panic(d.ctx.Err())
		}
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		switch op {
		case "q":
			if len(saved) < 1000 {
				saved = append(saved, *p)
			}
		case "Q":
			if n := len(saved); n > 0 {
				*p, saved = saved[n-1], saved[:n-1]
			}
		case "Do":
			if len(args) == 1 && depth < maxTreeDepth {
				d.form(w, resources, args[0].Name(), p.page, depth)
			}
		case "Tf":
			if len(args) == 2 {
				name := args[0].Name()
				if fonts[name] == nil {
					fonts[name] = d.font(resources, name)
				}
				p.font, p.size = fonts[name], args[1].Float64()
			}
		default:
			p.operate(w, op, args)
		}
	})
	return nil
}

// form draws a form that a page refers to.
func (d *pdfDocument) form(w *pdfWriter, resources pdf.Value, name string, page matrix, depth int) {
	form := resources.Key("XObject").Key(name)
	if form.Key("Subtype").Name() != "Form" {
		return
	}
	if d.nodes++; d.nodes > 10*sandbox.MaxPDFPages {
		panic(errors.New("it has too many forms"))
	}
	if own := form.Key("Resources"); !own.IsNull() {
		resources = own
	}
	if m, ok := matrixOf(list(form.Key("Matrix"))); ok {
		page = m.times(page)
	}
	if err := d.draw(w, form, resources, page, depth+1); err != nil {
		panic(err)
	}
}

// operate executes a text operator.
func (p *pen) operate(w *pdfWriter, op string, args []pdf.Value) {
	number := func(i int) float64 {
		if i < len(args) {
			return args[i].Float64()
		}
		return 0
	}
	show := func(v pdf.Value) {
		if err := p.show(w, v.RawString()); err != nil {
			panic(err)
		}
	}
	switch op {
	case "cm":
		if m, ok := matrixOf(args); ok {
			p.page = m.times(p.page)
		}
	case "BT":
		p.text, p.line = identity, identity
	case "Tm":
		if m, ok := matrixOf(args); ok {
			p.text, p.line = m, m
		}
	case "TL":
		p.leading = number(0)
	case "Tc":
		p.spacing = number(0)
	case "Tw":
		p.words = number(0)
	case "Tz":
		p.stretch = number(0) / 100
	case "TD":
		p.leading = -number(1)
		p.nextLine(number(0), number(1))
	case "Td":
		p.nextLine(number(0), number(1))
	case "T*":
		p.nextLine(0, -p.leading)
	case "Tj", "'", "\"":
		if len(args) == 0 {
			return
		}
		if op == "\"" {
			p.words, p.spacing = number(0), number(1)
		}
		if op != "Tj" {
			p.nextLine(0, -p.leading)
		}
		show(args[len(args)-1])
	case "TJ":
		if len(args) == 0 {
			return
		}
		for _, v := range list(args[0]) {
			if v.Kind() == pdf.String {
				show(v)
			} else {
				p.text = moved(-v.Float64()/1000*p.size*p.stretch, 0).times(p.text)
			}
		}
	}
}

func list(v pdf.Value) []pdf.Value {
	out := make([]pdf.Value, v.Len())
	for i := range out {
		out[i] = v.Index(i)
	}
	return out
}

func matrixOf(args []pdf.Value) (m matrix, ok bool) {
	if len(args) != len(m) {
		return m, false
	}
	for i, v := range args {
		m[i] = v.Float64()
	}
	return m, true
}

// errTooMuchText ends the reading of a document.
var errTooMuchText = &sandbox.ProgramError{
	Class: sandbox.OverSize, Msg: "the PDF has too much text: split it into several",
}

// pdfWriter assembles pieces of text to words, lines and paragraphs, by their
// positions.
type pdfWriter struct {
	b      bytes.Buffer
	left   int64
	begun  bool
	x, y   float64 // Where the last piece ended.
	height float64 // Of its letters.
	last   rune
}

func (w *pdfWriter) put(text string, x, y, toX, toY, height float64) error {
	if text == "" {
		return nil
	}
	if w.begun {
		w.separate(text, x, y, max(height, w.height))
	}
	w.begun = true
	w.b.WriteString(text)
	w.x, w.y, w.height = toX, toY, height
	w.last, _ = utf8.DecodeLastRuneInString(text)
	if int64(w.b.Len()) > w.left {
		return errTooMuchText
	}
	return nil
}

// separate writes the separator between the last piece of text and the next.
func (w *pdfWriter) separate(next string, x, y, height float64) {
	if height <= 0 {
		height = 1
	}
	drop, gap := w.y-y, x-w.x
	switch {
	case math.Abs(drop) > 1.8*height:
		w.b.WriteString("\n\n")
	case math.Abs(drop) > 0.4*height:
		w.breakLine(next)
	case gap > 0.18*height || gap < -2*height:
		if first, _ := utf8.DecodeRuneInString(next); !unicode.IsSpace(first) && !unicode.IsSpace(w.last) {
			w.b.WriteByte(' ')
		}
	}
}

// breakLine begins a line. A word that was hyphenated at the end of the one
// before is one again.
func (w *pdfWriter) breakLine(next string) {
	before, _ := utf8.DecodeLastRune(bytes.TrimSuffix(w.b.Bytes(), []byte("-")))
	first, _ := utf8.DecodeRuneInString(next)
	if w.last == '-' && unicode.IsLower(before) && unicode.IsLower(first) {
		w.b.Truncate(w.b.Len() - 1)
		return
	}
	w.b.WriteByte('\n')
}

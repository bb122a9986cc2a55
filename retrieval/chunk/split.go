package chunk

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Piece is a part of a text: text[Start:End], in bytes.
type Piece struct {
	Start, End int
	// Headings are the headings above it, outermost first. They may be shared with other
	// pieces: do not change them.
	Headings []string
}

// Split cuts a UTF-8 text into pieces, in the order of the text. Blanks around pieces are dropped,
// and no other text is.
//
// It fails with [tool.Invalid] if the options are out of bounds, or the text has too many pieces.
func Split(text string, o Options) ([]Piece, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s := splitter{text: text, Options: o}
	blocks := blocksOf(text, o.Plain)
	for len(blocks) > 0 {
		n := sectionOf(blocks)
		if err := s.section(blocks[:n]); err != nil {
			return nil, err
		}
		blocks = blocks[n:]
	}
	return s.pieces, nil
}

// sectionOf returns the number of blocks before the next heading. A heading directly followed by a
// deeper one belongs to the same section.
func sectionOf(blocks []block) int {
	n := 1
	for n < len(blocks) && blocks[n].kind == heading && blocks[n-1].kind == heading &&
		blocks[n].level > blocks[n-1].level {
		n++
	}
	for n < len(blocks) && blocks[n].kind != heading {
		n++
	}
	return n
}

type splitter struct {
	Options

	text   string
	pieces []Piece
	levels [6]string // The headings above.
	path   []string  // The same, without those that are not set.
}

// section cuts a heading and the blocks below it.
func (s *splitter) section(blocks []block) error {
	for _, b := range blocks {
		if b.kind == heading {
			s.enter(b)
		}
	}
	end := blocks[len(blocks)-1].end
	start, fresh := blocks[0].start, blocks[0].start // Starts of the next piece, and of the text in no piece yet.
	for fresh < end {
		for len(blocks) > 1 && blocks[1].start <= fresh {
			blocks = blocks[1:]
		}
		to := s.to(blocks, start, fresh, end)
		if err := s.add(start, to); err != nil {
			return err
		}
		fresh = skipBlank(s.text, to, end)
		start = s.overlap(blocks, start, fresh)
	}
	return nil
}

// enter sets the headings of the blocks that follow.
func (s *splitter) enter(b block) {
	s.levels[b.level-1] = b.title
	clear(s.levels[b.level:])
	s.path = slices.DeleteFunc(slices.Clone(s.levels[:]), func(title string) bool { return title == "" })
}

// to returns the end of the piece that starts at start. The first of blocks contains fresh, or is
// after it.
func (s *splitter) to(blocks []block, start, fresh, end int) int {
	limit := s.reach(start)
	if end <= limit {
		return end
	}
	whole := fresh // End of the last block that fits.
	for _, b := range blocks {
		if b.end <= limit {
			whole = b.end
			continue
		}
		if whole > fresh && (whole-start >= (limit-start)/2 || b.start > fresh && b.end <= s.reach(b.start)) {
			return whole
		}
		if from := max(b.start, fresh); from < limit {
			return cut(s.text, b.kind, from, limit)
		}
		break
	}
	return whole
}

// overlap returns the start of the next piece, whose new text starts at fresh. A block there that
// fits alone still fits with the overlap.
func (s *splitter) overlap(blocks []block, start, fresh int) int {
	if s.Overlap == 0 {
		return fresh
	}
	from, lines := back(s.text, start+1, fresh, s.Overlap), false
	for _, b := range blocks {
		if b.start >= fresh {
			if b.start == fresh && b.end <= s.reach(fresh) {
				from = s.within(from, fresh, b.end)
			}
			break
		}
		lines = b.kind != paragraph
	}
	return startAfter(s.text, lines, from, fresh)
}

// within returns the first position between from and fresh from which a piece reaches end; fresh if
// there is none.
func (s *splitter) within(from, fresh, end int) int {
	from = max(from, back(s.text, from, end, s.Size))
	for from < fresh && (end-from > MaxBytes || !utf8.RuneStart(s.text[from])) {
		from++
	}
	return min(from, fresh)
}

// reach returns the maximum end of a piece that starts at start.
func (s *splitter) reach(start int) int {
	i := start
	for n := 0; n < s.Size && i < len(s.text); n++ {
		_, size := utf8.DecodeRuneInString(s.text[i:])
		if i += size; i > start+MaxBytes {
			return i - size
		}
	}
	return i
}

// add adds a piece, without the blanks around it.
func (s *splitter) add(start, end int) error {
	end = start + len(strings.TrimRightFunc(s.text[start:end], unicode.IsSpace))
	if start == end {
		return nil
	}
	if len(s.pieces) == s.MaxPieces {
		return &tool.Error{
			Kind: tool.Invalid, Op: "chunk.Split",
			Msg: fmt.Sprintf("the text has more than %d chunks of %d characters: split the document, or make chunks larger",
				s.MaxPieces, s.Size),
		}
	}
	s.pieces = append(s.pieces, Piece{Start: start, End: end, Headings: s.path})
	return nil
}

// skipBlank returns the start of the next line that is not blank, with its indentation, or of the
// next word of the same line.
func skipBlank(text string, from, end int) int {
	begin := from
	for i := from; i < end; {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(r) {
			if begin == from {
				return i
			}
			return begin
		}
		i += size
		if r == '\n' {
			begin = i
		}
	}
	return end
}

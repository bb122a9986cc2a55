package chunk

import (
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of [Options], in bytes of UTF-8.
const (
	MinSize     = 100
	MaxSize     = 20_000
	DefaultSize = 1_500 // Some 300 words of English.
	// DefaultOverlap is what neighbours share where nobody says otherwise.
	DefaultOverlap = 150
	// DefaultMaxPieces bounds the pieces of one text.
	DefaultMaxPieces = 50_000
)

// Options say how a text is cut.
type Options struct {
	// Size is the most bytes a piece has, from [MinSize] to [MaxSize]. Zero is
	// [DefaultSize].
	Size int
	// Overlap is about how many bytes at the end of a piece stand at the
	// beginning of the next too, at most half of Size: it begins with a sentence
	// or a word, and never reaches over a heading. Zero is none.
	Overlap int
	// MaxPieces is how many pieces a text may have. Zero is [DefaultMaxPieces].
	MaxPieces int
	// Plain is for text that is no Markdown: it has paragraphs and nothing else.
	Plain bool
}

// Check refuses options out of bounds, naming the field.
func (o Options) Check() error {
	switch o = o.withDefaults(); {
	case o.Size < MinSize || o.Size > MaxSize:
		return invalid("size", "the size of a chunk is %d bytes: want %d to %d", o.Size, MinSize, MaxSize)
	case o.Overlap < 0 || o.Overlap > o.Size/2:
		return invalid("overlap", "the overlap of chunks is %d bytes: want 0 to %d, half of their size", o.Overlap, o.Size/2)
	case o.MaxPieces < 0:
		return invalid("max_pieces", "the number of chunks is limited to %d: want a positive number", o.MaxPieces)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Size == 0 {
		o.Size = DefaultSize
	}
	if o.MaxPieces == 0 {
		o.MaxPieces = DefaultMaxPieces
	}
	return o
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "chunk.Split", Path: "/" + path, Msg: fmt.Sprintf(format, args...)}
}

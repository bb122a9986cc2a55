package chunk

import (
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of [Options] and pieces.
const (
	MinSize          = 100 // Characters.
	MaxSize          = 8_000
	DefaultSize      = 1_600 // Some 300 words of English.
	DefaultMaxPieces = 20_000
	// MaxBytes bounds a piece in bytes.
	MaxBytes = 16_384
)

// Options configures [Split].
type Options struct {
	// Size is the maximum size of a piece in characters, from [MinSize] to [MaxSize]. Defaults
	// to [DefaultSize].
	Size int
	// Overlap is the maximum number of characters that a piece shares with the previous one, at
	// most half of Size: it starts with a sentence or a word, and never crosses a heading. Zero
	// is none.
	Overlap int
	// MaxPieces bounds the pieces of a text. Defaults to [DefaultMaxPieces].
	MaxPieces int
	// Plain treats the text as paragraphs, without Markdown.
	Plain bool
}

// Check checks the bounds of options, naming the field.
func (o Options) Check() error {
	switch o = o.withDefaults(); {
	case o.Size < MinSize || o.Size > MaxSize:
		return invalid("size", "the size of a chunk is %d characters: want %d to %d", o.Size, MinSize, MaxSize)
	case o.Overlap < 0 || o.Overlap > o.Size/2:
		return invalid("overlap", "the overlap of chunks is %d characters: want 0 to %d, half of their size", o.Overlap,
			o.Size/2)
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

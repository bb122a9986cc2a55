package sandbox

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Class is the class of a program's failure. Classes are stored: never rename one.
type Class string

// Classes.
const (
	Malformed Class = "malformed" // It does not compile, or is too large.
	BadInput  Class = "bad_input" // Its input is not acceptable.
	Failed    Class = "failed"    // It threw an error.
	OverTime  Class = "time"
	OverSpace Class = "memory"
	OverSize  Class = "output"
	OverDepth Class = "depth" // It recursed too deeply, or its result is nested too deeply.
	BadOutput Class = "bad_output"
	Crashed   Class = "crashed" // It crashed its process.
)

// classes lists every class.
var classes = []Class{Malformed, BadInput, Failed, OverTime, OverSpace, OverSize, OverDepth, BadOutput, Crashed}

// ProgramError is a program's own failure. Its text is for the caller and the model: it
// quotes the program, and no detail of the platform.
type ProgramError struct {
	Class Class  `json:"class"`
	Msg   string `json:"msg"`
}

// Error implements the error interface.
func (e *ProgramError) Error() string { return e.Msg }

// MaxMessage bounds the message of a failure, in bytes.
const MaxMessage = 4 << 10

// cleaned returns the error with a known class, and a bounded UTF-8 text without control
// characters, since a child may be compromised.
func (e *ProgramError) cleaned() *ProgramError {
	out := &ProgramError{Class: e.Class, Msg: Message(e.Msg)}
	if !slices.Contains(classes, e.Class) {
		out.Class = Crashed
	}
	return out
}

// Message returns a program's text, cut to [MaxMessage] bytes, without control characters
// other than line feeds and tabs.
func Message(text string) string {
	cut := len(text) > MaxMessage
	if cut {
		text = text[:MaxMessage]
		for range utf8.UTFMax - 1 { // Do not cut a character.
			if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
				break
			}
			text = text[:len(text)-1]
		}
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if cut {
		text += "…"
	}
	return strings.TrimSpace(text)
}

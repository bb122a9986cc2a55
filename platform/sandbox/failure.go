package sandbox

import "github.com/toolcrib/toolcrib/internal/sandbox"

func tooDeep() *sandbox.ProgramError {
	return &sandbox.ProgramError{Class: sandbox.OverDepth, Msg: "the program exceeded the recursion limit"}
}

func outOfMemory() *sandbox.ProgramError {
	return &sandbox.ProgramError{Class: sandbox.OverSpace, Msg: "the program exceeded its memory limit"}
}

package sandbox

import "github.com/toolcrib/toolcrib/internal/sandbox"

func tooDeep() *sandbox.ProgramError {
	return &sandbox.ProgramError{Class: sandbox.OverDepth, Msg: "the program recursed deeper than it may"}
}

func outOfMemory() *sandbox.ProgramError {
	return &sandbox.ProgramError{Class: sandbox.OverSpace, Msg: "the program used more memory than it may"}
}

package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Frame is the unit of the protocol between a pool and a child: four bytes of length, one of
// type, and the data. A child sends ready. Then the pool sends an order, the program unless
// the child has it cached, and the input; the child sends printed text, and at last a
// result, an error, or a request for the program.
type Frame struct {
	Type Type
	Data []byte
}

// Type is the type of a frame's data.
type Type byte

// Types of frames.
const (
	OrderFrame   Type = 'O' // [Order], to the child.
	ProgramFrame Type = 'P' // The program's bytes, to the child.
	InputFrame   Type = 'I' // The input, JSON, to the child.
	PrintFrame   Type = 'C' // Text that was printed.
	ResultFrame  Type = 'R' // The result, JSON.
	ErrorFrame   Type = 'E' // [ProgramError].
	WantFrame    Type = 'W' // The child has evicted the program.
	// ReadyFrame is the first frame of a child, sent once. It has the missing parts of
	// its syscall filter, if any.
	ReadyFrame Type = 'H'
)

// Order is the request to a child to run a program.
type Order struct {
	Language Language `json:"language"`
	Digest   string   `json:"digest"`            // Of the program.
	Program  bool     `json:"program,omitempty"` // A ProgramFrame follows.
	Check    bool     `json:"check,omitempty"`
	Limits   Limits   `json:"limits"`
}

// maxFrame bounds a frame, in both directions.
const maxFrame = 16 << 20

// WriteFrame writes a frame.
func WriteFrame(w io.Writer, f Frame) error {
	if len(f.Data) > maxFrame {
		return fmt.Errorf("writing frame: %d bytes", len(f.Data))
	}
	head := binary.BigEndian.AppendUint32(make([]byte, 0, 5+len(f.Data)),
		uint32(len(f.Data))) //nolint:gosec // At most maxFrame.
	head = append(head, byte(f.Type))
	if _, err := w.Write(append(head, f.Data...)); err != nil {
		return fmt.Errorf("writing frame: %w", err)
	}
	return nil
}

// ReadFrame reads a frame. It fails with [io.EOF] at the end of the stream.
func ReadFrame(r io.Reader) (Frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	size := binary.BigEndian.Uint32(head[:4])
	if size > maxFrame {
		return Frame{}, fmt.Errorf("reading frame: %d bytes announced", size)
	}
	f := Frame{Type: Type(head[4]), Data: make([]byte, size)}
	if _, err := io.ReadFull(r, f.Data); err != nil {
		return Frame{}, fmt.Errorf("reading frame: %w", err)
	}
	return f, nil
}

func jsonFrame(t Type, v any) (Frame, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return Frame{}, fmt.Errorf("encoding frame: %w", err)
	}
	return Frame{Type: t, Data: raw}, nil
}

package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Frame is the unit of the protocol between a pool and a child: four bytes of
// length, one of type, and so many bytes. A child says that it is ready. Then a
// pool sends an order, the program where the child does not know it, and the
// input; the child answers with what is printed, and at last with a result, an
// error, or that it wants the program.
type Frame struct {
	Type Type
	Data []byte
}

// Type says what a frame holds.
type Type byte

// Types of frames.
const (
	OrderFrame   Type = 'O' // [Order], to the child.
	ProgramFrame Type = 'P' // The program's bytes, to the child.
	InputFrame   Type = 'I' // The input, JSON, to the child.
	PrintFrame   Type = 'C' // Text that was printed.
	ResultFrame  Type = 'R' // The result, JSON.
	ErrorFrame   Type = 'E' // [ProgramError].
	WantFrame    Type = 'W' // The child does not know the program any more.
	// ReadyFrame says that the child has begun: the first frame it sends, and sent
	// once. It holds what its fence lacks, if anything.
	ReadyFrame Type = 'H'
)

// Order is the request to a child to run a program.
type Order struct {
	Language Language `json:"language"`
	Digest   string   `json:"digest"`            // Of the program.
	Program  bool     `json:"program,omitempty"` // It follows.
	Check    bool     `json:"check,omitempty"`
	Limits   Limits   `json:"limits"`
}

// maxFrame bounds a frame: neither side gets the other to take more.
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

// ReadFrame reads a frame. It fails with [io.EOF] where the stream ends before
// one.
func ReadFrame(r io.Reader) (Frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err //nolint:wrapcheck // io.EOF is what it says.
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

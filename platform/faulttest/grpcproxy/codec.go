package grpcproxy

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // Clients may compress what they send.
	"google.golang.org/grpc/mem"
)

// message is a message that is not decoded.
type message struct{ data []byte }

// codec passes messages on as they are, under the name of the codec that
// encoded them.
type codec struct{}

var _ encoding.CodecV2 = codec{}

// Marshal implements [encoding.CodecV2].
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*message)
	if !ok {
		return nil, fmt.Errorf("cannot forward a %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(m.data)}, nil
}

// Unmarshal implements [encoding.CodecV2].
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("cannot forward a %T", v)
	}
	m.data = data.Materialize()
	return nil
}

// Name implements [encoding.CodecV2].
func (codec) Name() string { return "proto" }

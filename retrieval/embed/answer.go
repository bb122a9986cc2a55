package embed

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/toolcrib/toolcrib/tool"
)

// answered is the body of a response. A vector is a list of numbers, or its little-endian bytes in
// base64.
type answered struct {
	Data []struct {
		Index     *int            `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
	Error json.RawMessage `json:"error"` // Some gateways report errors with status 200.
}

// read returns the vectors of a response in the order of the n texts: by index, or in their order if
// the endpoint gives none.
func (x *exchange) read(raw []byte, n int) ([][]float32, error) {
	var a answered
	if json.Unmarshal(raw, &a) != nil {
		return nil, x.garbled("it is not JSON of the documented shape")
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return nil, x.judge(problemStatus(raw), raw)
	}
	if len(a.Data) != n {
		return nil, x.garbled(fmt.Sprintf("it has %d vectors for %d texts", len(a.Data), n))
	}
	out := make([][]float32, n)
	for i, item := range a.Data {
		at := i
		if item.Index != nil {
			at = *item.Index
		}
		if at < 0 || at >= n || out[at] != nil || (item.Index == nil) != (a.Data[0].Index == nil) {
			return nil, x.garbled("the index of a vector in it is missing, repeated or out of range")
		}
		var err error
		if out[at], err = x.vector(item.Embedding); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// vector parses a vector, and normalizes it.
func (x *exchange) vector(raw json.RawMessage) ([]float32, error) {
	numbers, ok := numbers(raw)
	if !ok {
		return nil, x.garbled("a vector in it is neither a list of numbers nor the bytes of one in base64")
	}
	if len(numbers) != x.cfg.Dimensions {
		return nil, x.fail(tool.Invalid, fmt.Sprintf("its vectors have %d dimensions, and not the %d that are configured: "+
			"correct dimensions, or re-embed with the model that has them",
			len(numbers), x.cfg.Dimensions))
	}
	var square float64
	for _, v := range numbers {
		square += v * v
	}
	length := math.Sqrt(square)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, x.garbled("a vector in it is zero or not finite")
	}
	out := make([]float32, len(numbers))
	for i, v := range numbers {
		out[i] = float32(v / length)
	}
	return out, nil
}

func numbers(raw json.RawMessage) ([]float64, bool) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var list []*float64
		if json.Unmarshal(raw, &list) != nil {
			return nil, false
		}
		out := make([]float64, len(list))
		for i, v := range list {
			if v == nil { // Many endpoints write null for NaN.
				return nil, false
			}
			out[i] = *v
		}
		return out, true
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(packed)%4 != 0 {
		return nil, false
	}
	out := make([]float64, len(packed)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:])))
	}
	return out, true
}

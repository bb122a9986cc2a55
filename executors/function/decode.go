package function

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"reflect"
	"regexp"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// decodeArguments decodes args into a function's input. It fails with
// [tool.Invalid] for unknown members and trailing text. Numbers in fields of type
// any become a [json.Number], and an integer written as 3.0 or 1e3 is decoded as
// one, as JSON Schema defines integers.
func decodeArguments(args json.RawMessage, into any) error {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	err := decodeStrictly(args, into)
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(mismatch.Value, "number") {
		reflect.ValueOf(into).Elem().SetZero()
		err = decodeStrictly(plainIntegers(args), into)
	}
	if err == nil {
		return nil
	}
	out := &tool.Error{
		Kind: tool.Invalid, Op: "function.Execute",
		Msg: "the arguments do not match the function's input: " + strings.TrimPrefix(err.Error(), "json: "),
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		out.Path = "/" + strings.ReplaceAll(mismatch.Field, ".", "/")
		out.Msg = "the argument " + out.Path + ": got a " + mismatch.Value + ", want " + mismatch.Type.String() +
			" is needed"
	}
	return out
}

func decodeStrictly(args json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// tokens matches JSON strings, to skip them, and numbers with a fraction or an
// exponent, small enough to write out.
var tokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?`)

// plainIntegers rewrites integers without fraction and exponent.
func plainIntegers(raw json.RawMessage) json.RawMessage {
	return tokens.ReplaceAllFunc(raw, func(token []byte) []byte {
		if token[0] == '"' || !bytes.ContainsAny(token, ".eE") {
			return token
		}
		if r, ok := new(big.Rat).SetString(string(token)); ok && r.IsInt() {
			return []byte(r.Num().String())
		}
		return token
	})
}

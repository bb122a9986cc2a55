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

// decodeArguments reads args into a function's input: unknown members and
// trailing text are refused, numbers in fields of type any stay exact as
// [json.Number], and an integer written as 3.0 or 1e3, which JSON Schema takes
// for an integer, is one. It fails with [tool.Invalid].
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
		Msg: "the arguments don't fit: " + strings.TrimPrefix(err.Error(), "json: "),
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		out.Path = "/" + strings.ReplaceAll(mismatch.Field, ".", "/")
		out.Msg = "the argument " + out.Path + " doesn't fit: a " + mismatch.Value + " where " + mismatch.Type.String() +
			" is needed"
	}
	return out
}

func decodeStrictly(args json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err //nolint:wrapcheck // Told apart by decodeArguments.
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// tokens matches JSON strings, to step over them, and numbers with a fraction
// or an exponent, small enough to write out.
var tokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?`)

// plainIntegers writes whole numbers without fraction and exponent.
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

package store

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

const replacement = `\ufffd`

// payload prepares JSON for its column: unchanged except for strings that PostgreSQL
// cannot store. Empty input becomes null. It fails with tool.Invalid for malformed
// JSON.
func payload(raw json.RawMessage) ([]byte, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	if !json.Valid(raw) {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "store", Msg: "a value is not JSON"}
	}
	return storable(raw), nil
}

// content prepares the JSON of a definition, whose digest depends on every character.
// It fails with tool.Invalid where it could not be stored unchanged.
func content(v any) ([]byte, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(storable(raw), raw) {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "store", Msg: "a definition must not contain the NUL character or an unpaired surrogate",
		}
	}
	return raw, nil
}

// encode returns v as JSON that PostgreSQL can read, without HTML escapes.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "store", Msg: "a value cannot be written as JSON", Err: err}
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// encodePayload is encode for text of users and models.
func encodePayload(v any) ([]byte, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	return storable(raw), nil
}

// decode decodes stored JSON. Null and empty input leave v unchanged.
func decode(raw []byte, v any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return &tool.Error{Kind: tool.InternalError, Op: "store", Msg: "internal error", Err: err}
	}
	return nil
}

// storable replaces text that a UTF-8 database cannot store: invalid UTF-8, and the
// escapes of NUL and of unpaired surrogates. raw is valid JSON.
func storable(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	if !bytes.Contains(raw, []byte(`\u0000`)) && !bytes.Contains(raw, []byte(`\ud`)) &&
		!bytes.Contains(raw, []byte(`\uD`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		size, keep := 1, true
		if raw[i] == '\\' {
			size, keep = escape(raw[i:])
		}
		if keep {
			out = append(out, raw[i:i+size]...)
		} else {
			out = append(out, replacement...)
		}
		i += size
	}
	return out
}

// escape returns the size of the escape at the start of raw, and whether its
// character can be stored.
func escape(raw []byte) (size int, ok bool) {
	r, unicode := codeUnit(raw)
	switch {
	case !unicode:
		return 2, true
	case r == 0:
		return 6, false
	case !utf16.IsSurrogate(r):
		return 6, true
	}
	if low, isUnit := codeUnit(raw[6:]); isUnit && utf16.DecodeRune(r, low) != utf8.RuneError {
		return 12, true
	}
	return 6, false
}

func codeUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}

// text returns s as a text column can store it.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// optional returns nil for the empty string.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// value returns the empty string for nil.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

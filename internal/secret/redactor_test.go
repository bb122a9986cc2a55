package secret_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
)

// planted are secrets of the shapes that services give out, none of them real.
func planted() []string {
	list := []string{
		"hunter2!", "p@ss/w0rd+%", `quo"te\slash`, "tab\tand\nline", "pässwörd-ü", "0123456789", "9876543210123",
		"ends=with==", "&amp=<tag>", "a b c d",
	}
	for i := range 32 {
		list = append(list, fmt.Sprintf("sk-%02d-%s", i, strings.Repeat(string(rune('a'+i%26)), i+1)))
	}
	return list
}

// TestRedactorKnowsEncodings plants 42 secrets, each in every encoding, within
// other text, and looks for what is left.
func TestRedactorKnowsEncodings(t *testing.T) {
	t.Parallel()

	for _, s := range planted() {
		r := secret.NewRedactor(secret.NewValue(s))
		quoted, err := json.Marshal(s)
		require.NoError(t, err)
		forms := map[string]string{
			"plain": s, "hex": hex.EncodeToString([]byte(s)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(s))),
			"query": url.QueryEscape(s), "path": url.PathEscape(s), "json": strings.Trim(string(quoted), `"`),
			"base64": base64.StdEncoding.EncodeToString([]byte(s)), "raw": base64.RawStdEncoding.EncodeToString([]byte(s)),
			"url": base64.URLEncoding.EncodeToString([]byte(s)), "rawurl": base64.RawURLEncoding.EncodeToString([]byte(s)),
		}
		for name, form := range forms {
			got := r.Text("before " + form + " after")
			require.NotContains(t, got, form, "%s of %q", name, s)
			require.True(t, strings.HasPrefix(got, "before ") && strings.HasSuffix(got, " after"), got)
		}
		if len(s) >= 9 {
			for _, user := range []string{"u", "us", "usr", "user"} {
				basic := base64.StdEncoding.EncodeToString([]byte(user + ":" + s + "!"))
				decoded, _ := base64.StdEncoding.DecodeString(strings.ReplaceAll(r.Text(basic), secret.Redacted, ""))
				require.NotContains(t, string(decoded), s)
				require.NotEqual(t, basic, r.Text(basic), "%q within longer base64", s)
			}
		}
	}
}

func TestRedactorKeepsJSON(t *testing.T) {
	t.Parallel()

	r := secret.NewRedactor(secret.NewValue("hunter2!"), secret.NewValue("12345678"), secret.NewValue("true"),
		secret.NewValue(`a":"b`))
	for _, tt := range []struct{ in, want string }{
		{
			`{"b": "x hunter2! y", "a": 1.10, "hunter2!": [true, null]}`,
			`{"b": "x [redacted] y", "a": 1.10, "[redacted]": [true, null]}`,
		},
		{`{"a": "\u0068unter2!"}`, `{"a": "[redacted]"}`},
		{`[12345678, -12345678.5, 1234]`, `["[redacted]", "[redacted]", 1234]`},
		{`{"a":"b"}`, `{"a":"b"}`},
		{`"say \"hi\" to hunter2!"`, `"say \"hi\" to [redacted]"`},
		{`not json hunter2!`, `not json [redacted]`},
		{``, ``},
	} {
		got := r.JSON(json.RawMessage(tt.in))
		require.Equal(t, tt.want, string(got))
	}
	untouched := json.RawMessage(`{ "z" : 1e400 , "a":"\u00e9" }`)
	require.Equal(t, string(untouched), string(r.JSON(untouched)))
}

// wide returns s in UTF-16 of both byte orders.
func wide(s string) (little, big string) {
	var le, be []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		le, be = binary.LittleEndian.AppendUint16(le, unit), binary.BigEndian.AppendUint16(be, unit)
	}
	return string(le), string(be)
}

// TestRedactorKnowsUTF16 looks for secrets in wide text, on its own and as the
// escapes of a JSON string.
func TestRedactorKnowsUTF16(t *testing.T) {
	t.Parallel()

	for _, s := range planted() {
		r := secret.NewRedactor(secret.NewValue(s))
		little, big := wide("before " + s + " after")
		littleForm, bigForm := wide(s)
		for _, got := range []string{r.Text(little), r.Text("\xff\xfe" + little), r.Text(big), r.Text("x" + big)} {
			require.NotContains(t, got, littleForm, s)
			require.NotContains(t, got, bigForm, s)
			require.Contains(t, got, secret.Redacted)
		}
	}
	little, _ := wide("a hunter2! b")
	quoted, err := json.Marshal(little)
	require.NoError(t, err)
	require.Contains(t, string(secret.NewRedactor(secret.NewValue("hunter2!")).JSON(quoted)), secret.Redacted)
}

func TestRedactorHolds(t *testing.T) {
	t.Parallel()

	const s = "hunter2!-and-more"
	r := secret.NewRedactor(secret.NewValue(s))
	little, big := wide(s)
	for _, form := range []string{
		s, hex.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte("user:" + s)), url.QueryEscape(s), little,
		big,
	} {
		require.True(t, r.Holds([]byte("\x89PNG\x00\xff"+form+"\x00\xfe")), "%q", form)
	}
	require.False(t, r.Holds([]byte("\x89PNG hunter2")))
	require.False(t, r.Holds(nil))
	require.False(t, (&secret.Redactor{}).Holds([]byte(s)))
}

func TestTrimPartial(t *testing.T) {
	t.Parallel()

	const s = "hunter2!"
	r := secret.NewRedactor(secret.NewValue(s))
	for n := range len(s) {
		require.Equal(t, "the key is ", r.TrimPartial("the key is "+s[:n]))
	}
	half := hex.EncodeToString([]byte(s))[:9]
	require.Equal(t, "as ", r.TrimPartial("as "+half))
	require.Equal(t, "hu-", r.TrimPartial("hu-"))
	require.Empty(t, r.TrimPartial("hunt"))
	require.Equal(t, "hunt", (&secret.Redactor{}).TrimPartial("hunt"))
}

func TestRedactorLeavesShortSecrets(t *testing.T) {
	t.Parallel()

	require.Equal(t, "a banana", secret.NewRedactor(secret.NewValue("a"), secret.NewValue("")).Text("a banana"))
	require.Equal(t, "text", (&secret.Redactor{}).Text("text"))
}

func FuzzRedactor(f *testing.F) {
	for _, s := range planted() {
		raw, err := json.Marshal(map[string]any{s: []any{s, "x" + s}})
		require.NoError(f, err)
		f.Add(s, string(raw))
	}
	f.Fuzz(func(t *testing.T, s, text string) {
		r := secret.NewRedactor(secret.NewValue(s))
		got := r.JSON(json.RawMessage(text))
		if json.Valid([]byte(text)) && text != "" && !json.Valid(got) {
			t.Errorf("%q became %q", text, got)
		}
		if len(s) >= secret.MinRedactable && !strings.Contains(secret.Redacted, s) && strings.Contains(r.Text(text), s) {
			// A replacement can't complete a secret unless the mark is part of it.
			if !strings.ContainsAny(s, secret.Redacted) {
				t.Errorf("%q is left in %q", s, r.Text(text))
			}
		}
	})
}

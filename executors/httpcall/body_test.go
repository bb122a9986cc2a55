package httpcall_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
)

// TestParameters holds every style to its spelling, in a query, a form, a
// header and a cookie.
func TestParameters(t *testing.T) {
	t.Parallel()

	const args = `{"tags": ["a b", "c,d", 3], "where": {"x": "1&2", "y": true}, "one": "é", "deep": {"a": {"b": [1, {"c": null, "d": "e"}, [2]]}, "f": false}, "none": null, "empty": []}`
	for _, tt := range []struct{ style, from, query, header string }{
		{"", "/tags", "q=a+b&q=c%2Cd&q=3", ""},
		{"repeat", "/tags", "q=a+b&q=c%2Cd&q=3", "-"},
		{"repeat", "/where", `q=%7B%22x%22%3A+%221%262%22%2C+%22y%22%3A+true%7D`, "-"},
		{"comma", "/tags", "q=a+b,c%2Cd,3", "a b,c,d,3"},
		{"comma", "/where", "q=x,1%262,y,true", "x,1&2,y,true"},
		{"space", "/tags", "q=a+b%20c%2Cd%203", "-"},
		{"pipe", "/tags", "q=a+b%7Cc%2Cd%7C3", "-"},
		{"pairs", "/where", "x=1%262&y=true", "x=1&2,y=true"},
		{"pairs", "/tags", "q=a+b&q=c%2Cd&q=3", "a b,c,d,3"},
		{"deep", "/where", "q%5Bx%5D=1%262&q%5By%5D=true", "-"},
		{
			"deep", "/deep",
			"q%5Ba%5D%5Bb%5D%5B%5D=1&q%5Ba%5D%5Bb%5D%5B1%5D%5Bd%5D=e&q%5Ba%5D%5Bb%5D%5B2%5D%5B%5D=2&q%5Bf%5D=false", "-",
		},
		{"deep", "/tags", "q%5B%5D=a+b&q%5B%5D=c%2Cd&q%5B%5D=3", "-"},
		{"json", "/where", "q=%7B%22x%22%3A+%221%262%22%2C+%22y%22%3A+true%7D", `{"x":"1&2","y":true}`},
		{"comma", "/one", "q=%C3%A9", "é"},
		{"comma", "/none", "", "absent"},
		{"repeat", "/empty", "", "-"},
		{"comma", "/empty", "q=", ""},
	} {
		t.Run(tt.style+tt.from, func(t *testing.T) {
			t.Parallel()

			b := setup(t, ok)
			value := `{"from": "` + tt.from + `", "style": "` + tt.style + `"}`
			_, err := b.executor.Execute(t.Context(), b.call(`{"url": "$URL/o", "query": {"q": `+value+`}}`, args))
			require.NoError(t, err)
			require.Equal(t, tt.query, strings.TrimPrefix(strings.TrimPrefix(b.requests()[0].Target, "/o"), "?"))

			_, err = b.executor.Execute(
				t.Context(), b.call(`{"method": "POST", "url": "$URL/o", "body_type": "form", "body": {"q": `+value+`}}`, args),
			)
			require.NoError(t, err)
			require.Equal(t, tt.query, b.requests()[1].Body)
			require.Equal(t, "application/x-www-form-urlencoded", b.requests()[1].Header.Get("Content-Type"))

			carried := b.call(
				`{"url": "$URL/o", "query": {"v": 1}, "headers": {"X-Q": `+value+`}, "cookies": {"q": `+value+`, "also": "x y"}}`,
				args,
			)
			if tt.header == "-" {
				require.Equal(t, tool.Invalid, tool.KindOf(httpcall.CheckConfig(carried.Version.Snapshot.Config)))
				return
			}
			_, err = b.executor.Execute(t.Context(), carried)
			if tt.style == "" {
				require.Equal(t, tool.Invalid, tool.KindOf(err), "an array needs a style in a header")
				return
			}
			require.NoError(t, err)
			last := b.requests()[2]
			if tt.header == "absent" {
				require.NotContains(t, last.Header, "X-Q")
				require.Equal(t, "also=x%20y", last.Header.Get("Cookie"))
				return
			}
			require.Equal(t, tt.header, last.Header.Get("X-Q"))
			cookie, err := (&http.Request{Header: last.Header}).Cookie("q")
			require.NoError(t, err)
			plain, err := url.PathUnescape(cookie.Value)
			require.NoError(t, err)
			require.Equal(t, tt.header, plain)
		})
	}
}

// TestBodies are golden requests of each type of body.
func TestBodies(t *testing.T) {
	t.Parallel()

	const csv = "a,b\r\n1,2\r\n"
	encoded := base64.StdEncoding.EncodeToString([]byte("\x00\xff\r\n--"))
	for _, tt := range []struct{ name, config, args, contentType, body string }{
		{
			"form of what is left", `{"method": "POST", "url": "$URL/o/{id}", "body_type": "form"}`,
			`{"id": 1, "to": "a@b.example", "tags": ["x", "y"], "none": null}`,
			"application/x-www-form-urlencoded", "tags=x&tags=y&to=a%40b.example",
		},
		{
			"form of an argument", `{"method": "PUT", "url": "$URL/o", "body_type": "form", "body": {"from": "/form"}}`,
			`{"form": {"b": "1\r\n&c=2", "a": 1.50, "n": null}}`,
			"application/x-www-form-urlencoded", "a=1.50&b=1%0D%0A%26c%3D2",
		},
		{
			"form of no argument", `{"method": "PUT", "url": "$URL/o", "body_type": "form", "body": {"from": "/form"}}`, `{}`,
			"", "",
		},
		{
			"form with literals",
			`{"method": "POST", "url": "$URL/o", "body_type": "form", "body": {"grant": "x y", "n": 3, "gone": {"from": "/absent"}, "who": {"from": "/who"}}}`, `{"who": "Ada"}`,
			"application/x-www-form-urlencoded", "grant=x+y&n=3&who=Ada",
		},
		{
			"multipart", `{"method": "POST", "url": "$URL/o", "body_type": "multipart", "body": {
				"title": "A \"title\"", "note": {"from": "/note"}, "gone": {"from": "/absent"}, "meta": {"from": "/meta"},
				"file": {"from": "/data", "encoding": "base64", "file_name": {"from": "/name"}, "content_type": "application/pdf"},
				"table": {"from": "/csv", "file_name": "t.csv", "content_type": "text/csv; charset=utf-8"}}}`,
			`{"note": "two\r\nlines", "meta": {"k": [1]}, "data": "` + encoded +
				`", "name": "re\"port.pdf", "csv": "a,b\r\n1,2\r\n"}`,
			"multipart/form-data; boundary=BOUNDARY",
			strings.ReplaceAll(`--BOUNDARY
Content-Disposition: form-data; name="file"; filename="re\"port.pdf"
Content-Type: application/pdf

`+"\x00\xff\r\n--"+`
--BOUNDARY
Content-Disposition: form-data; name="meta"
Content-Type: application/json

{"k": [1]}
--BOUNDARY
Content-Disposition: form-data; name="note"

two
lines
--BOUNDARY
Content-Disposition: form-data; name="table"; filename="t.csv"
Content-Type: text/csv; charset=utf-8

a,b
1,2

--BOUNDARY
Content-Disposition: form-data; name="title"

A "title"
--BOUNDARY--
`, "\r\n", "\n"),
		},
		{
			"multipart of a list",
			`{"method": "POST", "url": "$URL/o", "body_type": "multipart", "body": {"f": {"from": "/list", "file_name": "x"}}}`,
			`{"list": ["a", "b"]}`,
			"multipart/form-data; boundary=BOUNDARY", `--BOUNDARY
Content-Disposition: form-data; name="f"; filename="x"
Content-Type: application/octet-stream

a
--BOUNDARY
Content-Disposition: form-data; name="f"; filename="x"
Content-Type: application/octet-stream

b
--BOUNDARY--
`,
		},
		{
			"raw text",
			`{"method": "PUT", "url": "$URL/o", "body_type": "raw", "body": {"from": "/csv", "content_type": "text/csv"}}`,
			`{"csv": "a,b\r\n1,2\r\n"}`, "text/csv", csv,
		},
		{
			"raw bytes",
			`{"method": "PUT", "url": "$URL/o", "body_type": "raw", "body": {"from": "/data", "encoding": "base64", "content_type": "image/png"}}`,
			`{"data": "` + encoded + `"}`, "image/png", "\x00\xff\r\n--",
		},
		{
			"raw JSON",
			`{"method": "PATCH", "url": "$URL/o", "body_type": "raw", "body": {"from": "/patch", "content_type": "application/merge-patch+json"}}`,
			`{"patch": {"a": null}}`, "application/merge-patch+json", `{"a": null}`,
		},
		{
			"raw nothing",
			`{"method": "PUT", "url": "$URL/o", "body_type": "raw", "body": {"from": "/absent", "content_type": "text/csv"}}`,
			`{}`, "", "",
		},
		{
			"json of another type",
			`{"method": "PATCH", "url": "$URL/o", "headers": {"Content-Type": "application/json-patch+json"}}`, `{"a": 1}`,
			"application/json-patch+json", `{"a":1}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, ok)
			for range 2 {
				_, err := b.executor.Execute(t.Context(), b.call(tt.config, tt.args))
				require.NoError(t, err)
			}
			seen := b.requests()
			require.Equal(t, seen[0].Body, seen[1].Body, "equal calls make equal requests")
			contentType, body := seen[0].Header.Get("Content-Type"), seen[0].Body
			if _, parameters, err := mime.ParseMediaType(contentType); err == nil && parameters["boundary"] != "" {
				require.Len(t, parameters["boundary"], 64)
				contentType = strings.ReplaceAll(contentType, parameters["boundary"], "BOUNDARY")
				body = strings.ReplaceAll(strings.ReplaceAll(body, parameters["boundary"], "BOUNDARY"), "\r\n", "\n")
			}
			require.Equal(t, tt.contentType, contentType)
			require.Equal(t, tt.body, body)
		})
	}
}

// TestRefusedBodies proves that arguments can't leave their field, part or
// file name.
func TestRefusedBodies(t *testing.T) {
	t.Parallel()

	file := `{"method": "POST", "url": "$URL/o", "body_type": "multipart", "body": {"f": {"from": "/data", "encoding": "base64", "file_name": {"from": "/name"}}}}`
	raw := `{"method": "PUT", "url": "$URL/o", "body_type": "raw", "body": {"from": "/data", "encoding": "base64", "content_type": "image/png"}}`
	deep := strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70)
	for _, tt := range []struct{ name, config, args, path string }{
		{"line break in a file name", file, `{"data": "", "name": "a\r\nX: y"}`, "/name"},
		{"path as a file name", file, `{"data": "", "name": "../../etc/passwd"}`, "/name"},
		{"windows path as a file name", file, `{"data": "", "name": "..\\x"}`, "/name"},
		{"dots as a file name", file, `{"data": "", "name": ".."}`, "/name"},
		{"object as a file name", file, `{"data": "", "name": {}}`, "/name"},
		{"long file name", file, `{"data": "", "name": "` + strings.Repeat("x", 256) + `"}`, "/name"},
		{"no base64", file, `{"data": "%%%", "name": "x"}`, "/data"},
		{"base64 of a number", file, `{"data": 1234, "name": "x"}`, "/data"},
		{"base64 of an object", raw, `{"data": {"a": 1}}`, "/data"},
		{"raw no base64", raw, `{"data": "a"}`, "/data"},
		{
			"form of an array", `{"method": "POST", "url": "$URL/o", "body_type": "form", "body": {"from": "/form"}}`,
			`{"form": [1]}`, "/form",
		},
		{"form of objects in an array", `{"method": "POST", "url": "$URL/o", "body_type": "form"}`, `{"a": [{}]}`, "/a"},
		{
			"object in an object", `{"url": "$URL/o", "query": {"q": {"from": "/a", "style": "pairs"}}}`, `{"a": {"b": {}}}`,
			"/a/b",
		},
		{
			"deeper than deep",
			`{"method": "POST", "url": "$URL/o", "body_type": "form", "body": {"a": {"from": "/a", "style": "deep"}}}`,
			`{"a": ` + deep + `}`, "/a",
		},
		{"line break in a cookie", `{"url": "$URL/o", "cookies": {"a": {"from": "/a"}}}`, `{"a": "x\r\nX-Admin: 1"}`, "/a"},
		{"object in a cookie", `{"url": "$URL/o", "cookies": {"a": {"from": "/a"}}}`, `{"a": {}}`, "/a"},
		{
			"line break in a header's member", `{"url": "$URL/o", "headers": {"X-A": {"from": "/a", "style": "pairs"}}}`,
			`{"a": {"x\r\nX-Admin: 1": 1}}`, "/a",
		},
		{"missing variable", `{"url": "$URL/{id}", "variables": {"id": {"from": "/order/id"}}}`, `{"id": "x"}`, "/order/id"},
		{
			"dots by a variable", `{"url": "$URL/{id}", "variables": {"id": {"from": "/order/id"}}}`, `{"order": {"id": ".."}}`,
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, ok)
			_, err := b.executor.Execute(t.Context(), b.call(tt.config, tt.args))
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
			require.Equal(t, tt.path, tool.AsError(err).Path)
			require.False(t, tool.AsError(err).Sent)
			require.Empty(t, b.requests())
		})
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()

	b := setup(t, ok)
	_, err := b.executor.Execute(t.Context(), b.call(`{"url": "$URL/{id}{;tags*}{?id}", "variables": {"id": {"from": "/path~1id"}, "tags": {"from": "/list"}}}`,
		`{"path/id": "a/b", "list": ["x", "y"], "id": "left"}`))
	require.NoError(t, err)
	require.Equal(t, "/a%2Fb;tags=x;tags=y?id=a%2Fb&id=left", b.requests()[0].Target)
}

// FuzzForm looks for arguments that a server reads as other fields than those
// that were meant.
func FuzzForm(f *testing.F) {
	for _, s := range []string{"a", "", "&x=1", "a=b;c", "\r\n", "%00", "é", "\xff", "+ +", "[]"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		args, err := json.Marshal(map[string]any{"form": map[string]any{name: []string{value, "last"}}})
		require.NoError(t, err)
		var sent struct{ Form map[string][]string }
		require.NoError(t, json.Unmarshal(args, &sent))
		body, _, err := httpcall.Body(
			t.Context(),
			json.RawMessage(`{"method": "POST", "url": "https://x.example", "body_type": "form", "body": {"from": "/form"}}`),
			args,
		)
		require.NoError(t, err)
		got, err := url.ParseQuery(string(body))
		require.NoError(t, err)
		require.Equal(t, url.Values(sent.Form), got)
	})
}

// FuzzMultipart looks for arguments that a server reads as other parts than
// those that were meant.
func FuzzMultipart(f *testing.F) {
	for _, s := range []string{
		"a", "", "\r\n--x\r\nContent-Disposition: form-data; name=\"y\"\r\n\r\n", "re\"port\\.pdf", "é", "\xff", "--",
		"a\tb", "%22",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		args, err := json.Marshal(map[string]any{"file": file, "text": text, "bytes": []byte(text)})
		require.NoError(t, err)
		var sent struct{ File, Text string }
		require.NoError(t, json.Unmarshal(args, &sent))
		config := `{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {
			"a": {"from": "/text"}, "b": {"from": "/bytes", "encoding": "base64", "file_name": {"from": "/file"}}, "c": "end"}}`
		body, contentType, err := httpcall.Body(t.Context(), json.RawMessage(config), args)
		if err != nil {
			require.Equal(t, "/file", tool.AsError(err).Path, "%v", err)
			return
		}
		_, parameters, err := mime.ParseMediaType(contentType)
		require.NoError(t, err)
		r := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
		for _, want := range []struct{ name, file, text string }{
			{"a", "", sent.Text}, {"b", sent.File, text}, {"c", "", "end"},
		} {
			part, err := r.NextPart()
			require.NoError(t, err)
			got, err := io.ReadAll(part)
			require.NoError(t, err)
			require.Equal(t, want.name, part.FormName())
			require.Equal(t, want.text, string(got))
			require.Equal(t, want.file, part.FileName())
		}
		_, err = r.NextPart()
		require.ErrorIs(t, err, io.EOF)
	})
}

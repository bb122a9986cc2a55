package httpcall_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
)

// TestCursorsInBodies proves that a cursor goes to its place, makes the
// objects on its way, and changes nothing else.
func TestCursorsInBodies(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ pointer, args, want, says string }{
		{"/after", `{"q": 1.0}`, `{"q":1.0,"after":"c"}`, ""},
		{"/after", `{"after": null, "q": 1.0}`, `{"after":"c","q":1.0}`, ""},
		{"/page/cursor/after", `{"page": {"size": 1e2}}`, `{"page":{"size":1e2,"cursor":{"after":"c"}}}`, ""},
		{"/list/1/after", `{"list": [ 1.0, {"x": 2} ]}`, `{"list":[1.0,{"x":2,"after":"c"}]}`, ""},
		{"/list/1", `{"list": [1, 2, 3]}`, `{"list":[1,"c",3]}`, ""},
		{"/list/3", `{"list": [1, 2, 3]}`, "", `no item "3"`},
		{"/list/x", `{"list": [1, 2, 3]}`, "", `no item "x"`},
		{"/list/-1", `{"list": [1, 2, 3]}`, "", `no item "-1"`},
		{"/q/after", `{"q": "text"}`, "", `cannot take a cursor at "after"`},
		{"/q/after", `{"q": 7}`, "", `cannot take a cursor at "after"`},
	} {
		b := setup(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, `{"data": [], "next": "c"}`) })
		call := b.call(
			`{"method": "POST", "url": "$URL/o", "pagination": {"type": "cursor", "items": "/data", "next": "/next", "body": "`+
				tt.pointer+`", "max_pages": 2}}`,
			tt.args,
		)
		call.Version.Snapshot.Execution.Pure = true
		res, err := b.executor.Execute(t.Context(), call)
		require.NoError(t, err)
		if tt.says != "" {
			require.True(t, res.IsError)
			require.Contains(t, res.Content[0].Text, tt.says)
			continue
		}
		require.Equal(t, tt.want, b.requests()[1].Body, tt.pointer)
	}
}

// TestPartsOfGo proves that a body written in Go is what it says.
func TestPartsOfGo(t *testing.T) {
	t.Parallel()

	pointer := func(s string) *httpcall.Pointer {
		p, err := httpcall.ParsePointer(s)
		require.NoError(t, err)
		return &p
	}
	body, err := json.Marshal(map[string]httpcall.Part{
		"note": {Literal: "x"},
		"file": {
			From: pointer("/data"), Encoding: "base64", FileName: &httpcall.Value{From: pointer("/name")},
			ContentType: "image/png",
		},
	})
	require.NoError(t, err)
	require.JSONEq(
		t,
		`{"note": "x", "file": {"from": "/data", "encoding": "base64", "file_name": {"from": "/name"}, "content_type": "image/png"}}`,
		string(body),
	)
	config, err := json.Marshal(httpcall.Config{
		Method: "POST", URL: "https://x.example", BodyType: "multipart", Body: body,
	})
	require.NoError(t, err)
	require.NoError(t, httpcall.CheckConfig(config))
	class, method := httpcall.Needs(config)
	require.Equal(t, tool.EgressWrite, class)
	require.Equal(t, "POST", method)
}

// TestTokenFailsOnTheWay proves that a call whose second token can't be had
// counts as sent: its first request was.
func TestTokenFailsOnTheWay(t *testing.T) {
	t.Parallel()

	i := &issuer{rejected: map[string]bool{"t1": true}, answer: func(w http.ResponseWriter, _ *http.Request, n int) {
		if n > 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = fmt.Fprintf(w, `{"access_token": "t%d"}`, n)
	}}
	b := setup(t, i.ServeHTTP)
	call := b.call(oauthConfig, `{}`)
	call.Version.Snapshot.Execution.Pure = true
	_, err := b.executor.Execute(t.Context(), call)
	e := tool.AsError(err)
	require.Equal(t, tool.Unavailable, e.Kind)
	require.True(t, e.Sent)
	require.True(t, e.Answered)
}

package extract_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/extract"
	"github.com/toolcrib/toolcrib/tool"
)

// box answers a job of the sandbox.
type box func(j sandbox.Job) (*sandbox.Outcome, error)

func (b box) Run(_ context.Context, j sandbox.Job) (*sandbox.Outcome, error) { return b(j) }

func TestText(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		media   retrieval.MediaType
		content string
		want    extract.Text
	}{
		{"Plain", retrieval.Plain, "# one\r\ntwo\rthree", extract.Text{Content: "# one\ntwo\nthree", Plain: true}},
		{"Marked", retrieval.Plain, "\ufefftext", extract.Text{Content: "text", Plain: true}},
		{"UTF16", retrieval.Plain, "\xff\xfeh\x00\xe9\x00", extract.Text{Content: "hé", Plain: true}},
		{"UTF16BigEndian", retrieval.Plain, "\xfe\xff\x00h\x00\xe9", extract.Text{Content: "hé", Plain: true}},
		{"NotUTF8", retrieval.Plain, "caf\xe9", extract.Text{Content: "caf\uFFFD", Plain: true}},
		{
			"Heading", retrieval.Markdown, "Before.\n\n```\n# code\n```\n# Returns #\n\ntext",
			extract.Text{Content: "Before.\n\n```\n# code\n```\n# Returns #\n\ntext", Title: "Returns"},
		},
		{
			"FrontMatter", retrieval.Markdown, "---\ntitle: \"Return \\\"policy\\\"\"\ntags: [a]\n---\n# Other\n",
			extract.Text{
				Content: "---\ntitle: \"Return \\\"policy\\\"\"\ntags: [a]\n---\n# Other\n", Body: 45, Title: `Return "policy"`,
			},
		},
		{"NoFrontMatter", retrieval.Markdown, "---\njust a line", extract.Text{Content: "---\njust a line"}},
	}
	e := extract.New(extract.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := e.Extract(t.Context(), "t", tt.media, []byte(tt.content))
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestPagesOfPDFsAreKnown(t *testing.T) {
	t.Parallel()

	var asked sandbox.Job
	e := extract.New(extract.Config{Sandbox: box(func(j sandbox.Job) (*sandbox.Outcome, error) {
		asked = j
		raw, err := json.Marshal(sandbox.PDFText{Title: " A\ttitle ", Pages: []string{"one", "", "three"}})
		return &sandbox.Outcome{Output: raw}, err
	})})
	got, err := e.Extract(t.Context(), "tenant", retrieval.PDF, []byte("%PDF-"))
	require.NoError(t, err)
	require.Equal(
		t, sandbox.Job{Tenant: "tenant", Language: sandbox.PDF, Input: []byte("%PDF-"), Limits: sandbox.PDFLimits}, asked,
	)
	require.Equal(t, "A title", got.Title)
	require.Equal(t, 1, got.Page(0))
	require.Equal(t, 1, got.Page(2))
	require.Equal(t, 3, got.Page(strings.Index(got.Content, "three")))
	require.Zero(t, (&extract.Text{}).Page(7), "there are no pages")
}

func TestHTMLIsReadByTheHost(t *testing.T) {
	t.Parallel()

	e := extract.New(extract.Config{HTML: func(_ context.Context, page []byte) (string, string, error) {
		return strings.Repeat("t", 600), "# " + string(page), nil
	}})
	got, err := e.Extract(t.Context(), "t", retrieval.HTML, []byte("page"))
	require.NoError(t, err)
	require.Equal(t, "# page", got.Content)
	require.Len(t, []rune(got.Title), retrieval.MaxDocumentTitle)
}

// What is refused says what is wrong to whoever uploaded it.
func TestRefusals(t *testing.T) {
	t.Parallel()

	class := func(c sandbox.Class) extract.Config {
		return extract.Config{Sandbox: box(func(sandbox.Job) (*sandbox.Outcome, error) {
			return nil, &sandbox.ProgramError{Class: c, Msg: "the PDF is encrypted"}
		})}
	}
	for name, tt := range map[string]struct {
		cfg     extract.Config
		media   retrieval.MediaType
		content string
		kind    tool.Kind
		says    string
	}{
		"Blank":     {extract.Config{}, retrieval.Plain, " \n", tool.Invalid, "no text"},
		"OnlyFront": {extract.Config{}, retrieval.Markdown, "---\ntitle: x\n---\n", tool.Invalid, "no text"},
		"TooMuch": {
			extract.Config{}, retrieval.Plain, strings.Repeat("x", extract.MaxText+1), tool.Invalid, "split it",
		},
		"NoReader":  {extract.Config{}, retrieval.HTML, "<p>", tool.Conflict, "Config.Reader"},
		"NoSandbox": {extract.Config{}, retrieval.PDF, "%PDF-", tool.Conflict, "Config.SandboxCommand"},
		"Unknown":   {extract.Config{}, "image/png", "x", tool.Invalid, "image/png"},
		"Encrypted": {class(sandbox.BadInput), retrieval.PDF, "%PDF-", tool.Invalid, "encrypted"},
		"Endless":   {class(sandbox.OverTime), retrieval.PDF, "%PDF-", tool.Invalid, "longer than 30s"},
		"Large":     {class(sandbox.OverSpace), retrieval.PDF, "%PDF-", tool.Invalid, "512 MiB"},
		"Broken":    {class(sandbox.Crashed), retrieval.PDF, "%PDF-", tool.Invalid, "broken"},
		"Interrupted": {
			extract.Config{
				Sandbox: box(func(sandbox.Job) (*sandbox.Outcome, error) { return nil, &tool.Error{Kind: tool.Unavailable} }),
			},
			retrieval.PDF, "%PDF-", tool.Unavailable, "",
		},
		"Scanned": {extract.Config{Sandbox: box(func(sandbox.Job) (*sandbox.Outcome, error) {
			return &sandbox.Outcome{Output: json.RawMessage(`{"pages":["",""]}`)}, nil
		})}, retrieval.PDF, "%PDF-", tool.Invalid, "scanned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := extract.New(tt.cfg).Extract(t.Context(), "t", tt.media, []byte(tt.content))
			require.Equal(t, tt.kind, tool.KindOf(err), err)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("---\ntitle: x\n---\n# y", true)
	f.Fuzz(func(t *testing.T, content string, md bool) {
		media := retrieval.Plain
		if md {
			media = retrieval.Markdown
		}
		got, err := extract.New(extract.Config{}).Extract(t.Context(), "t", media, []byte(content))
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		require.NotContains(t, got.Content, "\x00")
		require.NotContains(t, got.Content, "\r")
	})
}

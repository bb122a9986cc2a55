package chunk_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/chunk"
	"github.com/toolcrib/toolcrib/tool"
)

func split(t *testing.T, text string, o chunk.Options) []string {
	t.Helper()
	pieces, err := chunk.Split(text, o)
	require.NoError(t, err)
	out := make([]string, len(pieces))
	for i, p := range pieces {
		out[i] = text[p.Start:p.End]
	}
	return out
}

// line returns n words.
func words(n int, word string) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }

func TestPiecesCarryTheirHeadings(t *testing.T) {
	t.Parallel()

	text := "Before all.\n\n# Returns #\n\n## Within 30 days\n\nBring the receipt.\n\n## Later\n\nAsk " +
		"us.\n\nContact\n=======\n\nWrite.\n\n```\n# not a heading\n```\n"
	pieces, err := chunk.Split(text, chunk.Options{})
	require.NoError(t, err)
	type piece struct {
		text, path string
	}
	var got []piece
	for _, p := range pieces {
		got = append(got, piece{text[p.Start:p.End], strings.Join(p.Headings, " > ")})
	}
	require.Equal(t, []piece{
		{"Before all.", ""},
		{"# Returns #\n\n## Within 30 days\n\nBring the receipt.", "Returns > Within 30 days"},
		{"## Later\n\nAsk us.", "Returns > Later"},
		{"Contact\n=======\n\nWrite.\n\n```\n# not a heading\n```", "Contact"},
	}, got)
}

func TestBlocksThatFitAreKept(t *testing.T) {
	t.Parallel()

	code := "```go\n" + strings.Repeat("x := f(1)\n\n", 12) + "```"
	table := "| a | b |\n|---|---|\n" + strings.Repeat("| one | two |\n", 8)
	list := "- one\n\n  more of one\n\n- two\n  - nested\n" + strings.Repeat("- item of some length\n", 4)
	para := words(24, "word")
	text := strings.Join([]string{para, code, para, table, para, list, para}, "\n\n")
	pieces := split(t, text, chunk.Options{Size: 160, Overlap: 60})
	for _, block := range []string{code, strings.TrimSpace(table), strings.TrimSpace(list), para} {
		found := false
		for _, p := range pieces {
			found = found || strings.Contains(p, block)
		}
		require.True(t, found, "one piece holds all of\n%s\nin\n%q", block, pieces)
	}
}

func TestLargeBlocksAreCutWhereAReaderPauses(t *testing.T) {
	t.Parallel()

	t.Run("BetweenSentences", func(t *testing.T) {
		t.Parallel()
		text := strings.TrimSpace(strings.Repeat("It is e.g. this one, isn't it? He said \"No.\" Then he left. ", 20))
		for _, p := range split(t, text, chunk.Options{Size: 200}) {
			require.Regexp(t, `^(It|He|Then) `, p)
			require.Regexp(t, `[.?"]$`, p)
		}
	})
	t.Run("BetweenWordsWithoutSentences", func(t *testing.T) {
		t.Parallel()
		for _, p := range split(t, words(400, "alpha"), chunk.Options{Size: 101, Overlap: 20}) {
			require.True(t, strings.HasPrefix(p, "alpha") && strings.HasSuffix(p, "alpha"), p)
		}
	})
	t.Run("BetweenRowsAndItems", func(t *testing.T) {
		t.Parallel()
		for _, p := range split(t, "| h |\n|---|\n"+
			strings.Repeat("| one. Two three |\n", 50), chunk.Options{Size: 150, Overlap: 40}) {
			require.True(t, strings.HasPrefix(p, "|") && strings.HasSuffix(p, "|"), p)
		}
		for _, p := range split(t, strings.Repeat("1. item\n   - nested one\n   - nested two\n",
			50), chunk.Options{Size: 150}) {
			require.True(t, strings.HasPrefix(p, "1. item") && strings.HasSuffix(p, "two"), p)
		}
	})
	t.Run("BetweenRunes", func(t *testing.T) {
		t.Parallel()
		for _, p := range split(t, strings.Repeat("🧰", 1000), chunk.Options{Size: 101, Overlap: 50}) {
			require.True(t, utf8.ValidString(p))
		}
	})
	t.Run("AfterIdeographicStops", func(t *testing.T) {
		t.Parallel()
		for _, p := range split(t, strings.Repeat("退货需要收据。", 100), chunk.Options{Size: 200}) {
			require.True(t, strings.HasSuffix(p, "。"), p)
		}
	})
}

func TestOverlapBeginsWithASentence(t *testing.T) {
	t.Parallel()

	text := strings.TrimSpace(strings.Repeat("The first thing is this. The second thing is that. ", 20))
	pieces, err := chunk.Split(text, chunk.Options{Size: 200, Overlap: 60})
	require.NoError(t, err)
	require.Greater(t, len(pieces), 3)
	for i, p := range pieces[1:] {
		require.Less(t, p.Start, pieces[i].End, "they share something")
		require.LessOrEqual(t, pieces[i].End-p.Start, 60)
		require.True(t, strings.HasPrefix(text[p.Start:], "The "), text[p.Start:p.End])
	}
}

func TestPlainTextHasParagraphsOnly(t *testing.T) {
	t.Parallel()

	pieces, err := chunk.Split("# no heading\n\n- no list", chunk.Options{Plain: true})
	require.NoError(t, err)
	require.Len(t, pieces, 1)
	require.Empty(t, pieces[0].Headings)
}

func TestOptionsOutOfBoundsAreRefused(t *testing.T) {
	t.Parallel()

	for path, o := range map[string]chunk.Options{
		"/size": {Size: chunk.MinSize - 1}, "/overlap": {Size: 200, Overlap: 101}, "/max_pieces": {MaxPieces: -1},
	} {
		_, err := chunk.Split("x", o)
		require.Equal(t, tool.Invalid, tool.KindOf(err))
		require.Equal(t, path, tool.AsError(err).Path)
	}
}

// What a pipeline may be told, and what a store takes, is what comes of it.
func TestBoundsAreThoseOfPipelines(t *testing.T) {
	t.Parallel()

	require.NoError(t, chunk.Options{Size: retrieval.MinChars, Overlap: retrieval.MinChars / 2}.Check())
	require.NoError(t, chunk.Options{Size: retrieval.MaxChars, Overlap: retrieval.MaxChars / 2}.Check())
	require.Equal(t, retrieval.DefaultMaxChars, chunk.DefaultSize)
	require.LessOrEqual(t, chunk.MaxBytes, retrieval.MaxChunkBytes)
	require.LessOrEqual(t, chunk.DefaultMaxPieces, retrieval.MaxDocumentChunks)
}

func TestTooManyPiecesAreRefused(t *testing.T) {
	t.Parallel()

	_, err := chunk.Split(strings.Repeat("# h\n", 100_000), chunk.Options{})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "more than 20000 chunks")
}

// Whatever a text is, its pieces are of it, in order, within bounds, and leave
// nothing out.
func requireSound(t require.TestingT, text string, o chunk.Options) {
	pieces, err := chunk.Split(text, o)
	if err != nil {
		require.Equal(t, tool.Invalid, tool.KindOf(err))
		return
	}
	valid := utf8.ValidString(text)
	covered := 0
	for i, p := range pieces {
		piece := text[p.Start:p.End]
		require.NotEmpty(t, strings.TrimSpace(piece))
		require.LessOrEqual(t, utf8.RuneCountInString(piece), o.Size)
		require.LessOrEqual(t, len(piece), chunk.MaxBytes)
		if valid {
			require.True(t, utf8.ValidString(piece))
		}
		if i > 0 {
			require.Greater(t, p.Start, pieces[i-1].Start)
			require.Greater(t, p.End, pieces[i-1].End)
			require.LessOrEqual(t, utf8.RuneCountInString(text[p.Start:max(p.Start, pieces[i-1].End)]), o.Overlap)
		}
		if p.Start > covered && strings.TrimFunc(text[covered:p.Start], unicode.IsSpace) != "" {
			require.Failf(t, "left out", "%q", text[covered:p.Start])
		}
		for _, h := range p.Headings {
			require.LessOrEqual(t, len(h), 200)
		}
		covered = p.End
	}
	require.Empty(t, strings.TrimFunc(text[covered:], unicode.IsSpace))
	again, err := chunk.Split(text, o)
	require.NoError(t, err)
	require.Equal(t, pieces, again)
}

func TestPiecesAreSound(t *testing.T) {
	t.Parallel()

	part := rapid.SampledFrom([]string{
		"# One\n", "### Three ###\n", "Under\n---\n", "- item\n", "  - nested\n", "1. first\n", "```\n", "~~~~\n",
		"| a | b |\n", "\n", "\n\n", " ", "\t",
		"A sentence. ", "Another one! ", "word ", "ünï🧰", "。", strings.Repeat("x", 150),
		strings.Repeat("long words here ", 20), "\u00a0", "\r\n", "\v",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 80).Draw(t, "parts"), "")
		size := rapid.IntRange(chunk.MinSize, 400).Draw(t, "size")
		requireSound(t, text, chunk.Options{
			Size: size, Overlap: rapid.IntRange(0, size/2).Draw(t, "overlap"), Plain: rapid.Bool().Draw(t, "plain"),
		})
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("# Heading\n\nText. More text.\n\n- a\n- b\n", 100, 20)
	f.Add("\xff\xfe broken \xf0\x9f", 120, 60)
	f.Add("```\nunclosed\n\n# not", 100, 0)
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		o := chunk.Options{Size: size, Overlap: overlap}
		if o.Check() != nil || size == 0 {
			return
		}
		requireSound(t, text, o)
	})
}

// What someone may upload to keep us busy is cut like anything else.
func TestHostileTexts(t *testing.T) {
	t.Parallel()

	const size = 2 << 20
	var nested strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&nested, "%s- item %d\n", strings.Repeat(" ", i), i)
	}
	for name, text := range map[string]string{
		"OneLine":      strings.Repeat("x", 10<<20),
		"OneSentence":  strings.Repeat("x ", size/2),
		"Stops":        strings.Repeat(".", size),
		"Quotes":       strings.Repeat("\"' ", size/3),
		"Blanks":       strings.Repeat(" ", size) + "x",
		"BlankLines":   strings.Repeat("\n", size) + "x",
		"Hashes":       strings.Repeat("#", size),
		"Fences":       strings.Repeat("```\n", size/4),
		"OneFence":     "```\n" + strings.Repeat("line\n", size/5),
		"Pipes":        strings.Repeat("|\n", size/2),
		"Items":        strings.Repeat("- \n", size/3),
		"NestedList":   nested.String(),
		"Underlines":   strings.Repeat("=\n", size/2),
		"ShortThenBig": strings.Repeat("a "+strings.Repeat("b", 1999)+" ", size/2002),
		"Wide":         strings.Repeat("🧰", size/4),
		"Broken":       strings.Repeat("\x80", size),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireSound(t, text, chunk.Options{Size: chunk.MaxSize, Overlap: chunk.MaxSize / 2})
		})
	}
}

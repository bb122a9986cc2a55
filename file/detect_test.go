package file_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/tool"
)

func pngOf(tb testing.TB, width, height int) []byte {
	tb.Helper()
	var b bytes.Buffer
	require.NoError(tb, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

func jpegOf(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	require.NoError(tb, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3)), nil))
	return b.Bytes()
}

func gifOf(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	require.NoError(tb, gif.Encode(&b, image.NewPaletted(image.Rect(0, 0, 4, 3), palette.Plan9), nil))
	return b.Bytes()
}

// webp is a lossless picture of 4 by 3 pixels, without its data.
func webp() []byte {
	data := make([]byte, 18)
	data[0] = 0x2f
	binary.LittleEndian.PutUint32(data[1:], 3|2<<14)
	out := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L"), 18, 0, 0, 0)
	out = append(out, data...)
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// bomb is a PNG whose header promises many pixels.
func bomb(tb testing.TB, width, height uint32) []byte {
	tb.Helper()
	raw := pngOf(tb, 1, 1)
	binary.BigEndian.PutUint32(raw[16:], width)
	binary.BigEndian.PutUint32(raw[20:], height)
	binary.BigEndian.PutUint32(raw[29:], crc32.ChecksumIEEE(raw[12:29]))
	return raw
}

// archive makes an archive of parts.
func archive(tb testing.TB, parts ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range parts {
		name, content, _ := strings.Cut(name, "=")
		part, err := w.Create(name)
		require.NoError(tb, err)
		_, err = part.Write([]byte(content))
		require.NoError(tb, err)
	}
	require.NoError(tb, w.Close())
	return b.Bytes()
}

// document makes an office document of its main part, the type that it is listed with, and others.
func document(tb testing.TB, name, contentType, content string, others ...string) []byte {
	tb.Helper()
	return archive(tb, append(parts(name, contentType, content), others...)...)
}

func parts(name, contentType, content string) []string {
	return []string{
		`[Content_Types].xml=<?xml version="1.0"?>` +
			`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/` + name + `" ContentType="` + contentType + `"/></Types>`,
		name + "=" + content,
	}
}

const (
	docxMain = file.DOCX + ".main+xml"
	xlsxMain = file.XLSX + ".main+xml"
	words    = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>`
	sheets   = `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"></workbook>`
)

const pdf = "%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"

// What a file is, is decided by its content.
func TestDetect(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		content []byte
		want    file.Detected
	}{
		"PNG":         {pngOf(t, 4, 3), file.Detected{MediaType: file.PNG, Width: 4, Height: 3}},
		"JPEG":        {jpegOf(t), file.Detected{MediaType: file.JPEG, Width: 4, Height: 3}},
		"GIF":         {gifOf(t), file.Detected{MediaType: file.GIF, Width: 4, Height: 3}},
		"WebP":        {webp(), file.Detected{MediaType: file.WebP, Width: 4, Height: 3}},
		"PDF":         {[]byte(pdf), file.Detected{MediaType: file.PDF}},
		"Text":        {[]byte("Dear Ada,\n\nhello – 1 < 2.\n"), file.Detected{MediaType: file.Text}},
		"BOM":         {[]byte("\xef\xbb\xbfhello"), file.Detected{MediaType: file.Text}},
		"CSV":         {[]byte("a,b\r\n1,2\r\n"), file.Detected{MediaType: file.CSV}},
		"JSON":        {[]byte(` {"a": [1]} `), file.Detected{MediaType: file.JSON}},
		"Almost JSON": {[]byte(`{"a": [1}`), file.Detected{MediaType: file.Text}},
		"DOCX":        {document(t, "word/document.xml", docxMain, words), file.Detected{MediaType: file.DOCX}},
		"XLSX":        {document(t, "xl/workbook.xml", xlsxMain, sheets), file.Detected{MediaType: file.XLSX}},
		"Strict DOCX": {
			document(t, "word/document.xml", docxMain,
				`<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"/>`),
			file.Detected{MediaType: file.DOCX},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := file.Detect(c.content)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Contains(t, file.MediaTypes(), got.MediaType)
		})
	}
}

// Files of two types, damaged ones, bombs, and what is no document are refused.
func TestDetectRefuses(t *testing.T) {
	t.Parallel()

	good := parts("word/document.xml", docxMain, words)
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"Empty":            {nil, "empty"},
		"Blank":            {[]byte(" \n"), "empty"},
		"HTML":             {[]byte("<!DOCTYPE html><p>"), "markup"},
		"HTML after space": {[]byte("\n\t <html>"), "markup"},
		"HTML after text":  {[]byte("hello <script>alert(1)</script>"), "markup"},
		"HTML after BOM":   {[]byte("\xef\xbb\xbf<body>"), "markup"},
		"SVG":              {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "markup"},
		"SVG in XML":       {[]byte(`<?xml version="1.0"?><svg/>`), "markup"},
		"Program":          {[]byte("\x7fELF\x02\x01\x01\x00"), "not accepted"},
		"Windows program":  {[]byte("MZ\x90\x00\x03"), "not accepted"},
		"UTF-16":           {[]byte("\xff\xfeh\x00i\x00"), "not accepted"},
		"HTML in UTF-16":   {[]byte("\xfe\xff\x00<\x00p\x00>"), "not accepted"},
		"Gzip":             {[]byte("\x1f\x8b\x08\x00\x00"), "not accepted"},

		"PNG and HTML":       {append(pngOf(t, 1, 1), "<script>"...), "follows the end"},
		"PNG and archive":    {append(pngOf(t, 1, 1), archive(t, good...)...), "follows the end"},
		"PNG cut":            {pngOf(t, 40, 30)[:50], "incomplete"},
		"PNG signature only": {[]byte("\x89PNG\r\n\x1a\n"), "incomplete"},
		"PNG bomb":           {bomb(t, 100_000, 100_000), "pixels"},
		"PNG thin bomb":      {bomb(t, 30_000, 1), "pixels"},
		"PNG wide bomb":      {bomb(t, 10_000, 10_000), "pixels"},
		"PNG of huge chunks": {append([]byte("\x89PNG\r\n\x1a\n"), "\xff\xff\xff\xffIHDR....."...), "incomplete"},
		"GIF and script":     {[]byte("GIF89a/*\x00\x00\x00\x00*/=1;alert(1)//"), "GIF"},
		"GIF and more":       {append(gifOf(t), 'x'), "GIF"},
		"GIF cut":            {gifOf(t)[:20], "GIF"},
		"JPEG cut":           {jpegOf(t)[:60], "JPEG"},
		"JPEG and script":    {[]byte("\xff\xd8\xff\xe0/**/alert(1)"), "JPEG"},
		"JPEG without end":   {bytes.TrimSuffix(jpegOf(t), []byte("\xff\xd9")), "incomplete"},
		"WebP and more":      {append(webp(), 'x'), "WebP"},
		"WebP cut":           {webp()[:16], "WebP"},
		"PDF and HTML":       {[]byte(pdf + "<script>"), "follows its end"},
		"PDF within":         {[]byte("hello\x00" + pdf), "not accepted"},
		"PDF cut":            {[]byte(pdf[:20]), "incomplete"},
		"PDF of no version":  {[]byte("%PDF-x\n%%EOF"), "PDF"},

		"Archive":           {archive(t, "a.txt=a"), "archives"},
		"Jar":               {archive(t, "META-INF/MANIFEST.MF=a", "A.class=a"), "archives"},
		"Macros":            {archive(t, append(good, "word/vbaProject.bin=x")...), "macros"},
		"Path":              {archive(t, append(good, "../../etc/passwd=x")...), "outside"},
		"Absolute path":     {archive(t, append(good, "/etc/passwd=x")...), "outside"},
		"Backslash":         {archive(t, append(good, `..\x=x`)...), "outside"},
		"Part twice":        {archive(t, append(good, good[0])...), "twice"},
		"Bomb":              {archive(t, append(good, "word/big.xml="+strings.Repeat("0", 20<<20))...), "unpacked"},
		"Two documents":     {archive(t, append(good, "xl/workbook.xml=x")...), "list of parts"},
		"No list of parts":  {archive(t, "word/document.xml="+words), "archives"},
		"List of no parts":  {archive(t, "[Content_Types].xml=x", "word/document.xml="+words), "list of parts"},
		"Part not listed":   {document(t, "word/other.xml", docxMain, words, "word/document.xml="+words), "list of parts"},
		"Other part listed": {document(t, "word/document.xml", xlsxMain, words), "list of parts"},
		"Template": {
			document(t, "word/document.xml", strings.Replace(docxMain, "document.main", "template.main", 1), words),
			"list of parts",
		},
		"Macros by type": {
			document(t, "word/document.xml", "application/vnd.ms-word.document.macroEnabled.main+xml", words), "list of parts",
		},
		"Main part is empty":   {document(t, "word/document.xml", docxMain, ""), "main part"},
		"Main part is no XML":  {document(t, "word/document.xml", docxMain, "MZ program"), "main part"},
		"Main part is another": {document(t, "word/document.xml", docxMain, sheets), "main part"},
		"Main part is a page":  {document(t, "xl/workbook.xml", xlsxMain, "<html/>"), "main part"},
		"Entities": {
			document(t, "word/document.xml", docxMain, `<!DOCTYPE a [<!ENTITY b "c">]>`+words), "main part",
		},
		"Archive cut":       {archive(t, good...)[:40], "damaged"},
		"Archive signature": {[]byte("PK\x03\x04"), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := file.Detect(c.content)
			e := tool.AsError(err)
			require.Equal(t, tool.Invalid, e.Kind)
			require.Contains(t, e.Msg, c.says)
		})
	}
}

func TestCleanName(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"plan.png": "plan.png", "PLAN.PNG": "PLAN.PNG", "": "file.png", "...": "file.png", "/etc/passwd": "passwd.png",
		`C:\Users\ada\plan.png`: "plan.png", "../../x.png": "x.png", "a\r\nSet-Cookie: x=1.png": "aSet-Cookie_ x=1.png",
		"a\x00b.png": "ab.png", "page.html": "page.html.png", "x.png.": "x.png", ".htaccess": "htaccess.png",
		"evil\u202egnp.exe": "evilgnp.exe.png", `a"b<c>.png`: "a_b_c_.png", "bild ä.png": "bild ä.png", "\xff.png": "_.png",
		strings.Repeat("ä", 200) + ".png": strings.Repeat("ä", 98) + ".png",
		"x." + strings.Repeat("y", 300):   "x." + strings.Repeat("y", 194) + ".png",
	} {
		got := file.CleanName(name, file.PNG)
		require.Equal(t, want, got, name)
		require.LessOrEqual(t, len(got), 200)
		require.Equal(t, got, file.CleanName(got, file.PNG), "it is clean")
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()

	require.True(t, file.Accepts(nil, file.PDF))
	require.True(t, file.Accepts([]string{file.PDF}, file.PDF))
	require.True(t, file.Accepts([]string{"image/*"}, file.PNG))
	require.True(t, file.Accepts([]string{"*/*"}, file.PNG))
	require.False(t, file.Accepts([]string{"image/*"}, file.PDF))
	require.False(t, file.Accepts([]string{"image"}, file.PNG))
	require.False(t, file.Accepts([]string{"/*"}, file.PNG))
}

// Whatever is sent, detecting it ends, and finds nothing but a type that is accepted.
func FuzzDetect(f *testing.F) {
	for _, seed := range [][]byte{
		pngOf(f, 2, 2), jpegOf(f), gifOf(f), webp(), []byte(pdf), []byte("a,b\n1,2\n"), []byte(`{"a":1}`),
		archive(f, "[Content_Types].xml=x", "word/document.xml=<w/>"), []byte("<svg/>"), []byte("GIF89a"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := file.Detect(content)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		require.Contains(t, file.MediaTypes(), got.MediaType)
		require.LessOrEqual(t, got.Width*got.Height, file.MaxPixels)
	})
}

package lexical_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/examples/handbook/lexical"
)

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// What shares words is nearer than what shares parts of words, and that than
// what shares nothing.
func TestVectorsAreNearByWords(t *testing.T) {
	t.Parallel()

	at := func(text string) []float32 { return lexical.Vector(text, lexical.DefaultDimensions) }
	question := at("How do I glaze a teapot?")
	same, inflected, other := cosine(
		question, at("Glaze the TEAPOT."),
	), cosine(question, at("glazing teapots")), cosine(question, at("annual leave of drivers"))
	require.InDelta(t, 1, same, 1e-6, "case and common words count for nothing")
	require.Greater(t, same, inflected)
	require.Greater(t, inflected, other+0.2)
}

func TestVectorsAreStable(t *testing.T) {
	t.Parallel()

	text := strings.Repeat("kiln glaze teapot 1240 °C Übergabe ", 40)
	want := lexical.Vector(text, 64)
	for range 20 {
		require.Equal(t, want, lexical.Vector(text, 64))
	}
	for _, text := range []string{text, "the of and", "", "…"} {
		v := lexical.Vector(text, lexical.MinDimensions)
		require.InDelta(t, 1, math.Sqrt(cosine(v, v)), 1e-6, "%q has the length 1", text)
	}
}

func ask(t *testing.T, path, body string) (int, []byte) {
	t.Helper()
	w := httptest.NewRecorder()
	lexical.Handler().ServeHTTP(
		w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)),
	)
	return w.Code, w.Body.Bytes()
}

func TestServesEmbeddings(t *testing.T) {
	t.Parallel()

	status, raw := ask(t, "/v1/embeddings", `{"model": "lexical-1", "input": ["kiln", "leave"], "dimensions": 16}`)
	require.Equal(t, http.StatusOK, status, string(raw))
	var got struct {
		Object string
		Model  string
		Data   []struct {
			Index     int
			Embedding []float32
		}
		Usage struct {
			Total int `json:"total_tokens"`
		}
	}
	require.NoError(t, json.Unmarshal(raw, &got))
	require.Equal(t, "list", got.Object)
	require.Equal(t, lexical.Model, got.Model)
	require.Equal(t, 2, got.Usage.Total)
	require.Len(t, got.Data, 2)
	require.Equal(t, lexical.Vector("leave", 16), got.Data[1].Embedding)

	status, raw = ask(
		t, "/embeddings", `{"model": "lexical-1", "input": "leave", "dimensions": 16, "encoding_format": "base64"}`,
	)
	require.Equal(t, http.StatusOK, status, string(raw))
	var packed struct{ Data []struct{ Embedding string } }
	require.NoError(t, json.Unmarshal(raw, &packed))
	bits, err := base64.StdEncoding.DecodeString(packed.Data[0].Embedding)
	require.NoError(t, err)
	unpacked := make([]float32, 16)
	require.NoError(t, binary.Read(bytes.NewReader(bits), binary.LittleEndian, unpacked))
	require.Equal(t, got.Data[1].Embedding, unpacked)
}

func TestRefusesInWords(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]string{
		`{"model": "large", "input": "x"}`:                                "lexical-1",
		`{"model": "lexical-1", "input": [1, 2]}`:                         "texts",
		`{"model": "lexical-1", "input": []}`:                             "texts",
		`{"model": "lexical-1", "input": ["x", ""]}`:                      "empty",
		`{"model": "lexical-1"}`:                                          "texts",
		`{"model": "lexical-1", "input": "x", "dimensions": 4}`:           "from 8 to 4096",
		`{"model": "lexical-1", "input": "x", "encoding_format": "int8"}`: "float or base64",
		`nonsense`: "JSON",
	} {
		status, raw := ask(t, "/v1/embeddings", body)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, status, body)
		require.Contains(t, string(raw), want, body)
	}
}

package lexical

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
)

// Model is the name of the one model there is.
const Model = "lexical-1"

// Limits of a request.
const (
	MaxInputs = 2048
	maxBytes  = 16 << 20
)

type request struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Dimensions *int            `json:"dimensions"`
	Encoding   string          `json:"encoding_format"`
}

type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // Numbers, or their bytes as base64.
}

type usage struct {
	PromptTokens int `json:"prompt_tokens"`
	TotalTokens  int `json:"total_tokens"`
}

type answer struct {
	Object string      `json:"object"`
	Data   []embedding `json:"data"`
	Model  string      `json:"model"`
	Usage  usage       `json:"usage"`
}

// Handler serves POST …/embeddings as OpenAI's API does, under any base, for
// the model [Model]: a text or a list of texts, dimensions, and encoding_format
// float or base64. Lists of token numbers are refused. It wants no key.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /embeddings", serve)
	mux.HandleFunc("POST /{base}/embeddings", serve)
	return mux
}

func serve(w http.ResponseWriter, r *http.Request) {
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBytes)).Decode(&req); err != nil {
		refuse(w, http.StatusBadRequest, "the body is no JSON object of at most 16 MiB")
		return
	}
	texts, ok := inputs(req.Input)
	dimensions := DefaultDimensions
	if req.Dimensions != nil {
		dimensions = *req.Dimensions
	}
	switch {
	case req.Model != Model:
		refuse(w, http.StatusNotFound, "the model "+strconv.Quote(req.Model)+" does not exist; there is "+Model)
	case !ok:
		refuse(
			w, http.StatusBadRequest,
			"input must be a text, or a list of 1 to "+strconv.Itoa(MaxInputs)+" texts, none of them empty",
		)
	case dimensions < MinDimensions || dimensions > MaxDimensions:
		refuse(
			w, http.StatusBadRequest, "dimensions must be from "+strconv.Itoa(MinDimensions)+" to "+strconv.Itoa(MaxDimensions),
		)
	case req.Encoding != "" && req.Encoding != "float" && req.Encoding != "base64":
		refuse(w, http.StatusBadRequest, "encoding_format must be float or base64")
	default:
		reply(w, http.StatusOK, embed(texts, dimensions, req.Encoding == "base64"))
	}
}

// inputs reads a text or a list of texts.
func inputs(raw json.RawMessage) ([]string, bool) {
	var one string
	var texts []string
	if json.Unmarshal(raw, &one) == nil {
		texts = []string{one}
	} else if json.Unmarshal(raw, &texts) != nil {
		return nil, false
	}
	return texts, len(texts) > 0 && len(texts) <= MaxInputs && !slices.Contains(texts, "")
}

func embed(texts []string, dimensions int, packed bool) answer {
	out := answer{Object: "list", Model: Model, Data: make([]embedding, len(texts))}
	for i, text := range texts {
		vector := Vector(text, dimensions)
		out.Data[i] = embedding{Object: "embedding", Index: i, Embedding: vector}
		if packed {
			out.Data[i].Embedding = pack(vector)
		}
		out.Usage.PromptTokens += len(words(text))
	}
	out.Usage.TotalTokens = out.Usage.PromptTokens
	return out
}

// pack returns a vector as base64 of little-endian 32-bit numbers.
func pack(vector []float32) string {
	raw := make([]byte, 0, 4*len(vector))
	for _, v := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func refuse(w http.ResponseWriter, status int, msg string) {
	reply(w, status, map[string]any{
		"error": map[string]any{"message": msg, "type": "invalid_request_error", "param": nil, "code": nil},
	})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // A caller that is gone needs no answer.
}

package retrieval

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Mode is a search mode.
type Mode string

// Search modes.
const (
	FullText Mode = "full_text" // By words. The default; needs no model.
	Vector   Mode = "vector"    // By meaning: the nearest embeddings.
	Hybrid   Mode = "hybrid"    // By both, fused by rank.
)

// Modes lists every search mode.
func Modes() []Mode { return []Mode{FullText, Vector, Hybrid} }

// Embeds reports whether the mode needs an embedding model.
func (m Mode) Embeds() bool { return m == Vector || m == Hybrid }

// Language is a text search configuration of PostgreSQL.
type Language string

// DefaultLanguage is the default language of pipelines.
const DefaultLanguage Language = "english"

// Languages lists every language: PostgreSQL's own. Simple does no stemming and fits any.
func Languages() []Language {
	return []Language{
		"arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "finnish", "french", "german", "greek",
		"hindi",
		"hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali", "norwegian", "portuguese", "romanian",
		"russian",
		"serbian", "simple", "spanish", "swedish", "tamil", "turkish", "yiddish",
	}
}

// Bounds of pipelines.
const (
	MaxPipelineName        = 200   // Characters.
	MaxPipelineDescription = 2000  // Characters.
	MaxDimensions          = 4096  // Of an embedding.
	MaxBatchSize           = 512   // Texts in one request to an embedding model.
	DefaultBatchSize       = 64    // Of those.
	MaxChunkBytes          = 16384 // Of one chunk's text.
)

// Pipeline is a tenant's collection of documents and how they are searched.
type Pipeline struct {
	ID          string        `json:"id"`
	Tenant      tool.TenantID `json:"tenant_id"`
	Slug        string        `json:"slug"` // As [tool.ValidSlug] wants; unique in the tenant, kept for good.
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	// Search is the default mode of queries; FullText when empty.
	Search Mode `json:"search"`
	// Language defaults to [DefaultLanguage]. It can't change once the pipeline
	// has documents.
	Language Language `json:"language"`
	// Chunking applies to documents that are ingested from now on.
	Chunking Chunking `json:"chunking"`
	// Embedding is the model of the live generation; nil for none. Only
	// [Store.PromoteGeneration] changes it.
	Embedding *EmbeddingConfig `json:"embedding,omitempty"`
	// Generation is the number of the live generation of embeddings; 0 for none.
	Generation int `json:"generation"`
	// NextEmbedding is the model of the generation being built; nil for none.
	NextEmbedding *EmbeddingConfig `json:"next_embedding,omitempty"`
	// NextGeneration is the number of the generation of embeddings being built; 0 for
	// none.
	NextGeneration int `json:"next_generation,omitempty"`
	// EmbeddingError is why building the last generation was stopped; empty if it was
	// not.
	EmbeddingError string `json:"embedding_error,omitempty"`
	// Disabled pipelines keep their documents and refuse queries.
	Disabled  bool      `json:"disabled"`
	Documents int       `json:"documents"` // Number of documents. Set when one pipeline is read.
	Revision  int64     `json:"revision"`  // Counts edits; an update names the one it saw.
	CreatedBy string    `json:"created_by,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Chunking is how documents are cut. Zero values are the defaults.
type Chunking struct {
	// MaxChars bounds a chunk, in characters; 1600 when zero, 200 to 8000.
	MaxChars int `json:"max_chars,omitempty"`
	// Overlap is the number of characters that a chunk shares with the previous one; 160
	// when zero, -1 for none, at most half of MaxChars.
	Overlap int `json:"overlap,omitempty"`
}

// Defaults and bounds of [Chunking].
const (
	DefaultMaxChars = 1600
	DefaultOverlap  = 160
	MinChars        = 200
	MaxChars        = 8000
)

// Resolved returns the chunking with its defaults; no overlap is 0 in it.
func (c Chunking) Resolved() Chunking {
	if c.MaxChars == 0 {
		c.MaxChars = DefaultMaxChars
	}
	switch {
	case c.Overlap < 0:
		c.Overlap = 0
	case c.Overlap == 0:
		c.Overlap = min(DefaultOverlap, c.MaxChars/2)
	}
	return c
}

// Embeddings is a generation of a pipeline's embeddings, and its model.
type Embeddings struct {
	Generation int
	Config     EmbeddingConfig
}

// Generations returns the generations that a document must be embedded in before it is ready: the
// live one, and the one being built.
func (p *Pipeline) Generations() []Embeddings {
	var all []Embeddings
	if p.Embedding != nil && p.Generation > 0 {
		all = append(all, Embeddings{p.Generation, *p.Embedding})
	}
	if p.NextEmbedding != nil && p.NextGeneration > 0 {
		all = append(all, Embeddings{p.NextGeneration, *p.NextEmbedding})
	}
	return all
}

// Check sets the pipeline's defaults and checks the fields that people set. It fails with
// [tool.Invalid] and the JSON Pointer of the fault.
func (p *Pipeline) Check() error {
	if p.Search == "" {
		p.Search = FullText
	}
	if p.Language == "" {
		p.Language = DefaultLanguage
	}
	if p.Name == "" {
		p.Name = p.Slug
	}
	switch {
	case !tool.ValidSlug(p.Slug):
		return invalid("/slug", "slug %.80q: want a letter, then letters, digits, _ or -, at most 64", p.Slug)
	case !fits(p.Name, MaxPipelineName):
		return invalid("/name", "want at most %d characters of UTF-8", MaxPipelineName)
	case !fits(p.Description, MaxPipelineDescription):
		return invalid("/description", "want at most %d characters of UTF-8", MaxPipelineDescription)
	case !slices.Contains(Modes(), p.Search):
		return invalid("/search", "search %.40q is unknown: want full_text, vector or hybrid", string(p.Search))
	case !slices.Contains(Languages(), p.Language):
		return invalid("/language", "language %.40q is unknown: want one of %s", string(p.Language), joined(Languages()))
	case p.Search.Embeds() && p.Embedding == nil && p.NextEmbedding == nil:
		return invalid("/embedding", "search by %s needs an embedding model: give embedding, or search by full_text",
			p.Search)
	}
	if err := p.Chunking.check(); err != nil {
		return err
	}
	if p.Embedding != nil {
		return p.Embedding.Check("/embedding")
	}
	return nil
}

func (c Chunking) check() error {
	if c.MaxChars != 0 && (c.MaxChars < MinChars || c.MaxChars > MaxChars) {
		return invalid("/chunking/max_chars", "max_chars is %d: want %d to %d, or 0 for %d", c.MaxChars, MinChars, MaxChars,
			DefaultMaxChars)
	}
	if most := c.Resolved().MaxChars / 2; c.Overlap < -1 || c.Overlap > most {
		return invalid(
			"/chunking/overlap", "overlap is %d: want up to %d, half of max_chars, 0 for the default, or -1 for none",
			c.Overlap, most,
		)
	}
	return nil
}

// EmbeddingConfig is an embedding model at an endpoint with OpenAI's embeddings protocol.
type EmbeddingConfig struct {
	// URL is the base of the endpoint, to which "/embeddings" is added, such as
	// "https://api.openai.com/v1". No user, query or fragment.
	URL string `json:"url"`
	// Model is the model's name at the endpoint.
	Model string `json:"model"`
	// Dimensions is the length of the model's vectors. Vectors of another length are
	// refused.
	Dimensions int `json:"dimensions"`
	// RequestDimensions requests vectors of that length, for models that can shorten
	// them.
	RequestDimensions bool `json:"request_dimensions,omitempty"`
	// CredentialsRef is the credential that is sent as a bearer token; empty for none.
	CredentialsRef string `json:"credentials_ref,omitempty"`
	// BatchSize is the number of texts per request; [DefaultBatchSize] when zero, at most
	// [MaxBatchSize].
	BatchSize int `json:"batch_size,omitempty"`
	// QueryPrefix and DocumentPrefix are prepended to the texts to embed, for models that
	// distinguish queries from documents that way, for example "query: ".
	QueryPrefix    string `json:"query_prefix,omitempty"`
	DocumentPrefix string `json:"document_prefix,omitempty"`
}

// Bounds of the texts of an [EmbeddingConfig], in bytes.
const (
	maxEmbeddingURL    = 2048
	maxEmbeddingModel  = 200
	maxEmbeddingPrefix = 500
)

// Batch returns the batch size, or the default.
func (c *EmbeddingConfig) Batch() int {
	if c.BatchSize <= 0 {
		return DefaultBatchSize
	}
	return min(c.BatchSize, MaxBatchSize)
}

// Check checks the configuration at the JSON Pointer path. It fails with [tool.Invalid]. The
// egress guard checks the host at each call.
func (c *EmbeddingConfig) Check(path string) error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || len(c.URL) > maxEmbeddingURL || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return invalid(path+"/url", "want the base of an OpenAI-compatible endpoint, such as https://api.openai.com/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return invalid(path+"/url", "want no user, query or fragment: name a credential by credentials_ref")
	case c.Model == "" || len(c.Model) > maxEmbeddingModel || !printable(c.Model):
		return invalid(path+"/model", "want the name of a model, at most %d bytes", maxEmbeddingModel)
	case c.Dimensions < 1 || c.Dimensions > MaxDimensions:
		return invalid(path+"/dimensions", "dimensions is %d: want the length of the model's vectors, 1 to %d", c.Dimensions,
			MaxDimensions)
	case c.BatchSize < 0 || c.BatchSize > MaxBatchSize:
		return invalid(path+"/batch_size", "batch_size is %d: want 1 to %d, or 0 for %d", c.BatchSize, MaxBatchSize,
			DefaultBatchSize)
	case len(c.QueryPrefix) > maxEmbeddingPrefix || !utf8.ValidString(c.QueryPrefix):
		return invalid(path+"/query_prefix", "want at most %d bytes of UTF-8", maxEmbeddingPrefix)
	case len(c.DocumentPrefix) > maxEmbeddingPrefix || !utf8.ValidString(c.DocumentPrefix):
		return invalid(path+"/document_prefix", "want at most %d bytes of UTF-8", maxEmbeddingPrefix)
	}
	return nil
}

func invalid(path, format string, args ...any) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "retrieval", Path: path, Msg: fmt.Sprintf(format, args...)}
}

func fits(s string, most int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= most && !strings.ContainsRune(s, 0)
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func joined[S ~string](all []S) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}

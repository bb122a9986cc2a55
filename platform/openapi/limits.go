package openapi

import "errors"

// Limits of a document, and of the tools made of it.
const (
	MaxDocumentBytes = 32 << 20
	// MaxOperations bounds the operations that one import maps. A document may
	// have more, of which the options choose.
	MaxOperations = 2000
	// MaxDescription bounds the description of a tool, in characters.
	MaxDescription = 1024
	// MaxSchemaDescription bounds each description within a schema.
	MaxSchemaDescription = 512

	maxAll       = 50_000     // Operations of a document, those left out too.
	maxNodes     = 4_000_000  // Values of a document, aliases spelled out.
	maxDepth     = 100        // Of a document, in nested values.
	maxRefs      = 64         // References that lead to references.
	maxWork      = 1_000_000  // Schema nodes converted for a document.
	maxFollowed  = 10_000_000 // References and schemas looked at for a document.
	maxSpecimens = 2 << 10    // Bytes of one default or example.
	maxLosses    = 50         // Listed for one operation; the rest are counted.
	maxRepairs   = 20         // Keywords that one schema is freed of.
	maxTags      = 20         // Of an operation that its tool remembers.
	maxFlat      = 60         // Members of a body that become arguments of their own.
	inlineDepth  = 16         // Nested schemas beyond which references stay references.
)

// errWork ends an import whose schemas expand without an end.
var errWork = errors.New("its schemas refer to each other so much that they cannot be spelled out")

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

	maxAll       = 50_000     // Operations of a document, including unselected ones.
	maxNodes     = 4_000_000  // Values of a document, after expansion of aliases.
	maxDepth     = 100        // Of a document, in nested values.
	maxRefs      = 64         // References in a chain.
	maxWork      = 1_000_000  // Schema nodes converted for a document.
	maxFollowed  = 10_000_000 // References and schemas visited for a document.
	maxSpecimens = 2 << 10    // Bytes of one default or example.
	maxLosses    = 50         // Listed for one operation; the rest are counted.
	maxRepairs   = 20         // Keywords removed from one schema.
	maxTags      = 20         // Of an operation, recorded in its tool.
	maxFlat      = 60         // Members of a body that become separate arguments.
	inlineDepth  = 16         // Nested schemas beyond which references stay references.
)

// errWork ends an import whose schemas expand too much.
var errWork = errors.New("its schemas refer to each other too often to be expanded")

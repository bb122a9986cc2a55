package wire

import (
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Workflow types of retrieval.
const (
	IngestWorkflow  = "toolcrib.Ingest"  // Ingests one version of a document into its pipeline.
	ReembedWorkflow = "toolcrib.Reembed" // Re-embeds a pipeline with another embedding model.
)

// Activity types of retrieval.
const (
	PrepareDocumentActivity   = "toolcrib.PrepareDocument"   // Extracts, chunks and stores the text.
	EmbedDocumentActivity     = "toolcrib.EmbedDocument"     // Embeds some of a document's chunks.
	FinishDocumentActivity    = "toolcrib.FinishDocument"    // Makes the document searchable.
	FailDocumentActivity      = "toolcrib.FailDocument"      // Records why ingestion failed.
	EmbedGenerationActivity   = "toolcrib.EmbedGeneration"   // Embeds a batch of searchable chunks in a new generation.
	PromoteGenerationActivity = "toolcrib.PromoteGeneration" // Makes the new generation the one that is searched.
	DropGenerationActivity    = "toolcrib.DropGeneration"    // Abandons the new generation.
)

// States of documents and generations that are being processed.
const (
	IngestWorking    = "working"
	IngestReady      = "ready"      // It is searchable.
	IngestSuperseded = "superseded" // A newer one takes its place.
	IngestGone       = "gone"       // It was deleted.
)

// IngestInput starts the ingestion of a version of a document that was put, and
// names it to the activities.
type IngestInput struct {
	Tenant     tool.TenantID `json:"tenant_id"`
	DocumentID string        `json:"document_id"`
	Version    int64         `json:"version"`
	Embedded   int           `json:"embedded,omitempty"` // Before it continued as new.
}

// NewIngest returns the input of the ingestion of a version of a document, and
// the workflow id to start it with. A version has one ingestion: starting it
// again uses the same workflow id.
func NewIngest(tenant tool.TenantID, documentID string, version int64) (workflowID string, in IngestInput) {
	return fmt.Sprintf("%s%s/%s/%s/%d", WorkflowPrefix, tenant, kindIngest, documentID,
		version), IngestInput{Tenant: tenant, DocumentID: documentID, Version: version}
}

// IngestOutput is the outcome of an ingestion that did not fail.
type IngestOutput struct {
	State    string `json:"state"`
	Chunks   int    `json:"chunks"`
	Embedded int    `json:"embedded"` // Chunks, once for each generation.
}

// PrepareDocumentOutput is the state of a document after preparation.
type PrepareDocumentOutput struct {
	State       string `json:"state"`
	Chunks      int    `json:"chunks"`
	Generations []int  `json:"generations,omitempty"` // The generations that it must be embedded in.
}

// EmbedDocumentInput asks for embeddings of a document's chunks.
type EmbedDocumentInput struct {
	IngestInput

	Generation int `json:"generation"`
}

// EmbedOutput is the outcome of one step of embedding. State ready means that
// nothing is left to embed.
type EmbedOutput struct {
	State    string        `json:"state"`
	Embedded int           `json:"embedded"`
	Wait     time.Duration `json:"wait,omitempty"` // How long to wait before asking the model again.
}

// StateOutput is the state after a step.
type StateOutput struct {
	State string `json:"state"`
}

// FailDocumentInput records why a document is not ingested.
type FailDocumentInput struct {
	IngestInput

	Reason string `json:"reason"`
}

// ReembedInput starts the building of a generation of embeddings, and
// identifies it to the activities.
type ReembedInput struct {
	Tenant     tool.TenantID `json:"tenant_id"`
	PipelineID string        `json:"pipeline_id"`
	Generation int           `json:"generation"`
	Embedded   int           `json:"embedded,omitempty"` // Before it continued as new.
}

// NewReembed returns the input of the building of a generation, and the
// workflow id to start it with. A generation is built once.
func NewReembed(tenant tool.TenantID, pipelineID string, generation int) (workflowID string, in ReembedInput) {
	return fmt.Sprintf("%s%s/%s/%s/%d", WorkflowPrefix, tenant, kindReembed, pipelineID,
		generation), ReembedInput{Tenant: tenant, PipelineID: pipelineID, Generation: generation}
}

// DropGenerationInput ends the building of a generation.
type DropGenerationInput struct {
	ReembedInput

	Reason string `json:"reason,omitempty"` // Absent in histories from before it was recorded.
}

// ReembedOutput is the outcome of building a generation that did not fail.
type ReembedOutput struct {
	State    string `json:"state"`
	Embedded int    `json:"embedded"`
}

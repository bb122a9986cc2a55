package v1

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// ImportOpenAPI requests the import of an OpenAPI document as tools.
type ImportOpenAPI struct {
	Document    json.RawMessage   `json:"document" doc:"The document, OpenAPI 3.0 or 3.1 or Swagger 2.0: as JSON, or in a string as JSON or YAML. At most 32 MiB" example:"{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"Orders\",\"version\":\"1\"},\"servers\":[{\"url\":\"https://orders.example.com\"}],\"paths\":{\"/orders/{id}\":{\"get\":{\"operationId\":\"getOrder\",\"tags\":[\"orders\"],\"responses\":{\"200\":{\"description\":\"It.\"}}}},\"/orders/search\":{\"post\":{\"operationId\":\"searchOrders\",\"responses\":{\"200\":{\"description\":\"Orders.\"}}}}}}"`
	Name        string            `json:"name,omitempty" maxLength:"200" doc:"Identifies the document in repeated imports; its title when absent"`
	DocumentURL string            `json:"document_url,omitempty" maxLength:"2000" doc:"Address of the document: relative servers are resolved against it. It is not fetched" example:"https://orders.example.com/openapi.json"`
	Upstream    string            `json:"upstream,omitempty" maxLength:"2000" doc:"The server to call: an absolute URL instead of those of the document, or the number of one of them, from 1; the first when absent" example:"1"`
	Variables   map[string]string `json:"variables,omitempty" doc:"Values of server variables"`
	Credentials map[string]string `json:"credentials,omitempty" doc:"Names of credentials by security scheme" example:"{\"apiKey\":\"orders\"}"`
	Auth        *ImportAuth       `json:"auth,omitempty" doc:"Authentication of operations for which the document declares none"`
	OnePage     bool              `json:"one_page,omitempty" doc:"Derive no pagination: each call asks for one page"`
	Prefix      string            `json:"prefix,omitempty" maxLength:"40" doc:"Prefix of the slugs of new tools" example:"shop"`
	Idempotent  []string          `json:"idempotent,omitempty" maxItems:"2000" doc:"Operations, by id or as \"PUT /path\", whose server honours Idempotency-Key" example:"[\"getOrder\"]"`
	Reads       []string          `json:"reads,omitempty" maxItems:"2000" doc:"POST operations, by id or as \"POST /path\", that only read, as searches do: their egress class is read_only. Requires the permission tools.declare_reads" example:"[\"POST /orders/search\"]"`
	Only        *OperationFilter  `json:"only,omitempty" doc:"The operations to import; all when absent"`
	Except      *OperationFilter  `json:"except,omitempty" doc:"Operations to leave out"`
	Publish     bool              `json:"publish,omitempty" doc:"Publish what is written, and what was imported before and is still a draft"`
	DryRun      *bool             `json:"dry_run,omitempty" doc:"Report what would change, and change nothing; true when absent" example:"true"`
}

// ImportAuth is a credential for operations of a document that declares none.
type ImportAuth struct {
	Type       string `json:"type" enum:"bearer,basic,header,query,cookie" doc:"How it is sent" example:"header"`
	Name       string `json:"name,omitempty" maxLength:"200" doc:"Of the header, query parameter or cookie" example:"X-Api-Key"`
	Credential string `json:"credential" minLength:"1" maxLength:"200" doc:"Its name" example:"orders"`
}

// OperationFilter selects operations of a document. An operation must match all
// lists that are set, and of each any item.
type OperationFilter struct {
	Tags       []string `json:"tags,omitempty" maxItems:"500" example:"[\"orders\"]"`
	Operations []string `json:"operations,omitempty" maxItems:"2000" doc:"Ids of operations" example:"[\"getOrder\"]"`
	Paths      []string `json:"paths,omitempty" maxItems:"500" doc:"Prefixes of paths" example:"[\"/orders\"]"`
	Methods    []string `json:"methods,omitempty" maxItems:"10"`
	Match      []string `json:"match,omitempty" maxItems:"500" doc:"Patterns, in which * is any text, of ids, paths, \"METHOD /path\" or slugs" example:"[\"GET /orders*\"]"`
}

// ImportedOpenAPI reports the outcome of an import, or with dry_run what the
// outcome would be.
type ImportedOpenAPI struct {
	DryRun     bool                `json:"dry_run"`
	Name       string              `json:"name" doc:"The import name of the document"`
	Title      string              `json:"title"`
	Version    string              `json:"document_version" example:"2026-05-01"`
	OpenAPI    string              `json:"openapi" example:"3.1.0"`
	Digest     string              `json:"digest" doc:"SHA-256 of the document"`
	Counts     ImportCounts        `json:"counts"`
	Hosts      []string            `json:"hosts" doc:"Hosts that the tools call: scheme, host and port"`
	Needs      []NeededCredential  `json:"needs,omitempty" doc:"Security schemes for which no credential was named"`
	Notes      []Loss              `json:"notes,omitempty" doc:"Parts of the document as a whole that were not mapped"`
	Operations []ImportedOperation `json:"operations"`
	Gone       []GoneTool          `json:"gone,omitempty" doc:"Tools of this document whose operations were removed from it; they are left unchanged"`
}

// ImportCounts counts the outcomes of operations.
type ImportCounts struct {
	Mapped     int `json:"mapped"`
	WithLosses int `json:"mapped_with_losses"`
	Skipped    int `json:"skipped"`
	Unselected int `json:"unselected" doc:"Operations that only and except left out"`
	Created    int `json:"created"`
	Updated    int `json:"updated"`
	Unchanged  int `json:"unchanged"`
	Published  int `json:"published" doc:"Tools that were published, or with dry_run would be"`
	Failed     int `json:"failed" doc:"Tools that could not be written or published, such as for a slug that another tool has"`
	Gone       int `json:"gone"`
}

// NeededCredential is a security scheme for which no credential was named.
type NeededCredential struct {
	Scheme     string `json:"scheme" example:"apiKey"`
	Holds      string `json:"holds" doc:"What the credential must hold" example:"an API key"`
	Operations int    `json:"operations" doc:"How many need it"`
}

// Loss is something of a document that was not mapped.
type Loss struct {
	Pointer string `json:"pointer,omitempty" doc:"JSON Pointer within the document" example:"/paths/~1orders/post/callbacks"`
	Reason  string `json:"reason"`
}

// ImportedOperation reports the outcome for an operation.
type ImportedOperation struct {
	OperationID string      `json:"operation_id,omitempty" example:"getOrder"`
	Method      string      `json:"method" example:"GET"`
	Path        string      `json:"path" example:"/orders/{id}"`
	Pointer     string      `json:"pointer" doc:"JSON Pointer within the document" example:"/paths/~1orders~1{id}/get"`
	Mapping     string      `json:"mapping" enum:"mapped,mapped_with_losses,skipped"`
	Losses      []Loss      `json:"losses,omitempty"`
	Reason      string      `json:"reason,omitempty" doc:"Why it was skipped"`
	Needs       string      `json:"needs,omitempty" doc:"Security scheme for which a credential has to be named" example:"apiKey"`
	Tool        string      `json:"tool,omitempty" doc:"Slug" example:"getOrder"`
	ToolID      string      `json:"tool_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Version     string      `json:"version,omitempty" doc:"Number of the draft" example:"1.1.0"`
	EgressClass tool.Egress `json:"egress_class,omitempty" enum:"none,read_only,write" example:"read_only"`
	Pagination  string      `json:"pagination,omitempty" enum:"link,next_url,cursor,page" doc:"How further pages are requested, if the document defines it unambiguously; absent for one page" example:"link"`
	Published   bool        `json:"published,omitempty"`
	Action      Action      `json:"action" enum:"created,updated,unchanged,failed,skipped"`
	Diff        *Diff       `json:"diff,omitempty" doc:"Of an updated tool: the changes of its draft, and the number that they require"`
	Warnings    []string    `json:"warnings,omitempty"`
	Error       *Problem    `json:"error,omitempty" doc:"Why the tool could not be written or published"`
}

// ImportProgress reports the progress of an import.
type ImportProgress struct {
	Done  int    `json:"done" doc:"Operations that are finished"`
	Total int    `json:"total" example:"1100"`
	Tool  string `json:"tool,omitempty" doc:"The last of them" example:"listOrders"`
}

// Names of the events of an import's stream.
const (
	EventImportProgress = "import.progress" // [ImportProgress].
	EventImportResult   = "import.result"   // [ImportedOpenAPI].
	EventImportFailed   = "import.failed"   // [Problem]: the whole import failed.
)

// GoneTool is a tool whose operation was removed from the document.
type GoneTool struct {
	Tool        string `json:"tool" example:"getOrder"`
	ToolID      string `json:"tool_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	OperationID string `json:"operation_id,omitempty"`
	Method      string `json:"method" example:"GET"`
	Path        string `json:"path" example:"/orders/{id}"`
	Status      string `json:"status" enum:"draft,published,deprecated,disabled"`
}

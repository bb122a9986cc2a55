package v1

import (
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// ArtifactDefinition is the definition of an artifact, optionally with the
// program of its first version.
type ArtifactDefinition struct {
	Slug        string `json:"slug" maxLength:"64" doc:"Cannot be changed" example:"quoteOrder"`
	Name        string `json:"name,omitempty" maxLength:"200" doc:"The slug when absent" example:"Quote an order"`
	Description string `json:"description,omitempty" maxLength:"4000" example:"Calculates what an order costs."`
	Language    string `json:"language" enum:"jq,javascript,wasm" doc:"Of all versions" example:"javascript"`
	ArtifactUpload
}

// ArtifactUpload is the program of a new version.
type ArtifactUpload struct {
	Version string          `json:"version,omitempty" maxLength:"64" doc:"Greater than every other; the next patch when absent" example:"1.0.0"`
	Source  string          `json:"source,omitempty" doc:"The program as text: JavaScript of up to 256 KiB, jq of up to 64 KiB" example:"export default ({a, b}) => a + b;"`
	Content string          `json:"content_base64,omitempty" doc:"The program in base64, instead: WebAssembly of up to 4 MiB" example:""`
	Inputs  []ArtifactInput `json:"inputs,omitempty" maxItems:"64" doc:"The inputs of the program, by name; all arguments when absent"`
}

// Upload returns u as the registry reads it.
func (u ArtifactUpload) Upload() (definition.ArtifactUpload, error) {
	out := definition.ArtifactUpload{Version: u.Version, Source: u.Source}
	if u.Content != "" {
		var err error
		if out.Content, err = base64.StdEncoding.DecodeString(u.Content); err != nil {
			return out, &tool.Error{Kind: tool.Invalid, Op: "api", Path: "/content_base64", Msg: "the program is not base64"}
		}
	}
	for _, in := range u.Inputs {
		out.Inputs = append(out.Inputs, tool.ArtifactInput(in))
	}
	return out, nil
}

// ArtifactInput declares a value that a program takes by its name.
type ArtifactInput struct {
	Name        string `json:"name" maxLength:"64" example:"lines"`
	Type        string `json:"type,omitempty" enum:",string,number,integer,boolean,object,array" doc:"Any when absent" example:"array"`
	Description string `json:"description,omitempty" maxLength:"4000" example:"The lines of the order."`
	Required    bool   `json:"required,omitempty" example:"true"`
}

// Artifact is a program of the tenant's own, which tools run.
type Artifact struct {
	ID          string    `json:"id" example:"01975c2e-7d1a-7c3e-9f00-000000000121"`
	Slug        string    `json:"slug" example:"quoteOrder"`
	Name        string    `json:"name" example:"Quote an order"`
	Description string    `json:"description,omitempty" example:"Calculates what an order costs."`
	Language    string    `json:"language" enum:"jq,javascript,wasm"`
	Status      string    `json:"status" enum:"active,deprecated,disabled" doc:"Deprecated: new pins are refused. Disabled: calls of tools that run it are refused"`
	Version     string    `json:"version,omitempty" doc:"Of the newest version; absent before the first" example:"1.0.0"`
	Revision    int64     `json:"revision" example:"2"`
	CreatedBy   string    `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// FromArtifact returns a as the API shows it.
func FromArtifact(a artifact.Artifact) Artifact {
	return Artifact{
		ID: a.ID, Slug: a.Slug, Name: a.Name, Description: a.Description, Language: a.Language, Status: string(a.Status),
		Version:  a.Version,
		Revision: a.Revision, CreatedBy: a.CreatedBy, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

// ArtifactVersion is a program under a number, which never changes.
type ArtifactVersion struct {
	Version   string          `json:"version" example:"1.0.0"`
	Digest    string          `json:"digest" doc:"SHA-256 of the program" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Size      int             `json:"size" doc:"In bytes" example:"1204"`
	Inputs    []ArtifactInput `json:"inputs,omitempty"`
	CreatedBy string          `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt time.Time       `json:"created_at"`
}

// FromArtifactVersion returns v as the API shows it.
func FromArtifactVersion(v artifact.Version) ArtifactVersion {
	return ArtifactVersion{
		Version: v.Number, Digest: v.Digest, Size: v.Size, Inputs: fromInputs(v.Inputs), CreatedBy: v.CreatedBy,
		CreatedAt: v.CreatedAt,
	}
}

func fromInputs(inputs []tool.ArtifactInput) []ArtifactInput {
	var out []ArtifactInput
	for _, in := range inputs {
		out = append(out, ArtifactInput(in))
	}
	return out
}

// UploadedArtifact is an artifact with the version that was uploaded.
type UploadedArtifact struct {
	Artifact Artifact         `json:"artifact"`
	Version  *ArtifactVersion `json:"version,omitempty" doc:"Absent where no program was given"`
	Added    bool             `json:"added" doc:"Whether the version is new; false if it existed with the same content" example:"true"`
}

// ArtifactVersions lists the versions of an artifact.
type ArtifactVersions struct {
	Items []ArtifactVersion `json:"items" doc:"Newest first"`
}

// ArtifactContent is the program of a version.
type ArtifactContent struct {
	Artifact string          `json:"artifact" doc:"Its slug" example:"quoteOrder"`
	Version  string          `json:"version" example:"1.0.0"`
	Language string          `json:"language" enum:"jq,javascript,wasm"`
	Digest   string          `json:"digest" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Inputs   []ArtifactInput `json:"inputs,omitempty"`
	Source   string          `json:"source,omitempty" doc:"The program, if it is text" example:"export default ({a, b}) => a + b;"`
	Content  string          `json:"content_base64,omitempty" doc:"The program in base64, if it is binary" example:""`
}

// FromArtifactCode returns a program as the API shows it.
func FromArtifactCode(a artifact.Artifact, version string, code tool.ArtifactCode) ArtifactContent {
	out := ArtifactContent{
		Artifact: a.Slug, Version: version, Language: code.Language, Digest: code.Digest, Inputs: fromInputs(code.Inputs),
	}
	if code.Language != "wasm" && utf8.Valid(code.Content) {
		out.Source = string(code.Content)
	} else {
		out.Content = base64.StdEncoding.EncodeToString(code.Content)
	}
	return out
}

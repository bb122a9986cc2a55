package definition

import "github.com/toolcrib/toolcrib/tool"

// ArtifactStatus is the lifecycle status of an artifact.
type ArtifactStatus string

// Statuses of an artifact. They are stored: never rename one.
const (
	ArtifactActive     ArtifactStatus = "active"
	ArtifactDeprecated ArtifactStatus = "deprecated" // Tools that pin it run it; no other tool can pin it.
	ArtifactDisabled   ArtifactStatus = "disabled"   // Every call is refused, pinned or not.
)

// ArtifactSpec is the desired state of an artifact, optionally with the program
// of a new version.
type ArtifactSpec struct {
	Slug        string         `json:"slug"`
	Name        string         `json:"name,omitempty"` // The slug when empty.
	Description string         `json:"description,omitempty"`
	Language    string         `json:"language,omitempty"` // Cannot be changed.
	Status      ArtifactStatus `json:"status,omitempty"`   // When empty, active for a new one, and else as it is.
	Revision    int64          `json:"revision,omitempty"` // Guards an update, as that of a [ToolSpec].
	ArtifactUpload
}

// ArtifactUpload is the program of a new version: as text in Source, or in
// base64 in Content.
type ArtifactUpload struct {
	Version string               `json:"version,omitempty"` // The next patch when empty.
	Source  string               `json:"source,omitempty"`
	Content []byte               `json:"content_base64,omitempty"`
	Inputs  []tool.ArtifactInput `json:"inputs,omitempty"`
}

// HasProgram reports whether the upload has a program, by Source or by Content.
func (u *ArtifactUpload) HasProgram() bool { return u.Source != "" || len(u.Content) > 0 }

// parseArtifact reads the definition of an artifact. Its program is in source or
// content_base64; the command line reads a file into one of them.
func parseArtifact(doc object) (*ArtifactSpec, error) {
	doc.drop(rowFields...)
	if doc["slug"] == nil && doc["name"] != nil {
		doc["slug"] = doc["name"]
	}
	var s ArtifactSpec
	return &s, doc.into("", &s)
}

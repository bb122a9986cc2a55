package tool

// ArtifactPin is the version and digest of the uploaded program that a tool runs. A version
// of the tool pins it, so the program is fixed when the tool is published, not when it is
// called. Whether the program is enabled is checked at each call.
type ArtifactPin struct {
	ID      string `json:"id"`      // Of the artifact.
	Version string `json:"version"` // Semver, exact.
	Digest  string `json:"digest"`  // SHA-256 of the program, in hexadecimal.
}

// ArtifactInput declares a value that a program takes by its name.
type ArtifactInput struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"` // string, number, integer, boolean, object, array, or empty for any.
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// ArtifactCode is a version of an uploaded program, as it runs.
type ArtifactCode struct {
	Language string          // jq, javascript or wasm.
	Digest   string          // Of Content, as it was when it was uploaded.
	Inputs   []ArtifactInput // Empty where the program declares none, and takes all arguments.
	Content  []byte
}

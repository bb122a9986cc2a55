package registry

// parseArtifact reads the definition of an artifact. Its program stands in
// source or content_base64; the command line puts a file there.
func parseArtifact(doc object) (*ArtifactSpec, error) {
	doc.drop(rowFields...)
	if doc["slug"] == nil && doc["name"] != nil {
		doc["slug"] = doc["name"]
	}
	var s ArtifactSpec
	return &s, doc.into("", &s)
}

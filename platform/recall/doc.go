// Package recall measures how well documents are found: by questions whose
// answers somebody has marked.
package recall

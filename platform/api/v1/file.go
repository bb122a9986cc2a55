package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/file"
)

// File is a file of a tenant, without its content.
type File struct {
	ID        string     `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f1"`
	Name      string     `json:"name" doc:"As it was sent, without what is unsafe in a name" example:"floor-plan.png"`
	MediaType string     `json:"media_type" doc:"As its content was found to be" example:"image/png"`
	Size      int64      `json:"size" doc:"In bytes" example:"48213"`
	SHA256    string     `json:"sha256" doc:"Of the content, in hexadecimal" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Width     int        `json:"width,omitempty" doc:"Of an image, in pixels" example:"1200"`
	Height    int        `json:"height,omitempty" doc:"Of an image, in pixels" example:"800"`
	Kind      file.Kind  `json:"kind" enum:"upload,markup" doc:"upload: it was sent; markup: what a person drew on an image" example:"upload"`
	RunID     string     `json:"run_id,omitempty" doc:"Of the run whose artifact it is"`
	RootRunID string     `json:"root_run_id,omitempty" doc:"Of the outermost run of that" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	ViewID    string     `json:"view_id,omitempty" doc:"Of the request for input that it was sent to" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	CreatedBy string     `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"When it is deleted, unless it is used before; absent for a file that is kept"`
}

// FromFile returns a file as the API shows it.
func FromFile(f file.File) File {
	return File{
		ID: f.ID, Name: f.Name, MediaType: f.MediaType, Size: f.Size, SHA256: f.SHA256, Width: f.Width, Height: f.Height,
		Kind: f.Kind, RunID: f.RunID, RootRunID: f.RootRunID, ViewID: f.CallID, CreatedBy: f.CreatedBy,
		CreatedAt: f.CreatedAt, ExpiresAt: f.ExpiresAt,
	}
}

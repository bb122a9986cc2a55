package inputpage

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/wait"
)

// sentFile is a file that was sent before, with an answer that was not complete.
type sentFile struct{ ID, Name, Size string }

// canvas is an image to mark.
type canvas struct {
	Source  string // Of the image; empty where it is not shown.
	Link    string // To an image that is not shown.
	Host    string // Of the link.
	Regions []regionRow
}

// regionRow is where a person describes a region without drawing.
type regionRow struct {
	Number int
	Parts  []regionPart
	Note   regionPart
}

type regionPart struct{ Name, Label, Value string }

// showFiles shows what a field for files takes, and what was sent before.
func (h *Handler) showFiles(s *shown, f *field.Field, sent *form) {
	accept := f.Accept
	if len(accept) == 0 {
		accept = file.MediaTypes()
	}
	s.Accept, s.MaxBytes = strings.Join(accept, ","), h.bound(f)
	s.Limits = "Up to " + sizeOf(s.MaxBytes)
	if n := input.MaxFiles(f); n > 1 {
		s.Limits = fmt.Sprintf("Up to %d files, each up to %s", n, sizeOf(s.MaxBytes))
	}
	for _, id := range sent.values[f.Key] {
		if found, ok := sent.attached[id]; ok {
			s.Files = append(s.Files, sentFile{ID: id, Name: found.Name, Size: sizeOf(found.Size)})
		}
	}
}

// sizeOf writes a number of bytes for people.
func sizeOf(n int64) string {
	switch {
	case n >= 1<<20:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/(1<<20)), ".0") + " MB"
	case n >= 1<<10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/(1<<10)), ".0") + " kB"
	}
	return fmt.Sprintf("%d bytes", n)
}

// showMarkup shows the image to mark, and allows the page our script and that image.
func (h *Handler) showMarkup(
	ctx context.Context, header http.Header, call *wait.Call, spec *input.Spec, p *page, sent *form,
) {
	c := &canvas{Regions: regionRows(sent.values)}
	source := ""
	switch address := spec.Markup.Image; {
	case h.shows(ctx, call, spec):
		c.Source, source = sent.token+"/"+imagePart, "'self'"
	case spec.Markup.FileID() != "":
	case h.showsHost(ctx, call, address):
		c.Source, source = address, "https://"+strings.ToLower(input.Host(address))
	default:
		c.Link, c.Host = address, input.Host(address)
	}
	for i := range p.Fields {
		if p.Fields[i].Kind == "markup" {
			p.Fields[i].Markup = c
		}
	}
	if c.Source == "" {
		return
	}
	p.Script, p.Nonce = scriptName, rand.Text()
	header.Set(policyHeader, policy+"; script-src 'nonce-"+p.Nonce+"'; img-src "+source)
}

func (h *Handler) showsHost(ctx context.Context, call *wait.Call, address string) bool {
	config := h.config(ctx, *call)
	return config.Shows(address)
}

func regionRows(sent url.Values) []regionRow {
	labels := map[string]string{"x": "Left", "y": "Top", "width": "Width", "height": "Height"}
	rows := make([]regionRow, input.FormRegions)
	for i := range rows {
		rows[i].Number = i + 1
		for _, part := range input.RegionParts() {
			name := input.RegionKey(i+1, part)
			rows[i].Parts = append(rows[i].Parts, regionPart{Name: name, Label: labels[part], Value: sent.Get(name)})
		}
		name := input.RegionKey(i+1, "note")
		rows[i].Note = regionPart{Name: name, Label: "What is there", Value: sent.Get(name)}
	}
	return rows
}

package sandbox

import "fmt"

// PDF is the engine that reads a document instead of running a program: the
// input is a PDF file, and the result a [PDFText]. There is no program.
const PDF Language = "pdf"

// MaxPDF is how large a PDF may be, in bytes, and MaxPDFPages how many pages it
// may have.
const (
	MaxPDF      = 12 << 20
	MaxPDFPages = 5000
)

// PDFLimits are the limits for reading one PDF.
var PDFLimits = Limits{Time: MaxLimits.Time, Memory: 512 << 20, Output: MaxLimits.Output}

// PDFText is what a PDF says.
type PDFText struct {
	Title string   `json:"title,omitempty"`
	Pages []string `json:"pages"` // The text of each page, from the first.
}

func (j *Job) checkPDF() error {
	switch {
	case len(j.Program) > 0:
		return &ProgramError{Class: Malformed, Msg: "a PDF is read without a program"}
	case len(j.Input) > MaxPDF:
		return &ProgramError{Class: BadInput, Msg: fmt.Sprintf("the PDF has %d bytes; it may have %d", len(j.Input), MaxPDF)}
	}
	return nil
}

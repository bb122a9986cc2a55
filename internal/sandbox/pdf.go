package sandbox

import "fmt"

// PDF is the engine that reads a document instead of running a program: the
// input is a PDF file, and the result a [PDFText]. There is no program.
const PDF Language = "pdf"

// MaxPDF bounds the size of a PDF in bytes, and MaxPDFPages its number of pages.
const (
	MaxPDF      = 12 << 20
	MaxPDFPages = 5000
)

// PDFLimits are the limits for one PDF.
var PDFLimits = Limits{Time: MaxLimits.Time, Memory: 512 << 20, Output: MaxLimits.Output}

// PDFText is the text of a PDF.
type PDFText struct {
	Title string   `json:"title,omitempty"`
	Pages []string `json:"pages"` // The text of each page, from the first.
}

func (j *Job) checkPDF() error {
	switch {
	case len(j.Program) > 0:
		return &ProgramError{Class: Malformed, Msg: "a PDF is read without a program"}
	case len(j.Input) > MaxPDF:
		return &ProgramError{Class: BadInput, Msg: fmt.Sprintf("the PDF has %d bytes; the limit is %d", len(j.Input), MaxPDF)}
	}
	return nil
}

package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// pdf reads a PDF document in the sandbox. Its pages become paragraphs.
func (e *Extractor) pdf(ctx context.Context, tenant tool.TenantID, content []byte) (Text, error) {
	if e.cfg.Sandbox == nil {
		return Text{}, missing("PDF", "have a worker with Config.SandboxCommand ingest it")
	}
	out, err := e.cfg.Sandbox.Run(ctx, sandbox.Job{
		Tenant: tenant, Language: sandbox.PDF, Input: content, Limits: sandbox.PDFLimits,
	})
	if err != nil {
		return Text{}, pdfError(err)
	}
	var doc sandbox.PDFText
	if err := json.Unmarshal(out.Output, &doc); err != nil {
		return Text{}, fmt.Errorf("reading the text of a PDF: %w", err)
	}
	t := Text{Title: doc.Title, Plain: true}
	var b strings.Builder
	for _, page := range doc.Pages {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		t.Pages = append(t.Pages, b.Len())
		b.WriteString(clean(page))
	}
	t.Content = b.String()
	return t, nil
}

// pdfError converts a failure of the reader that is the document's fault.
func pdfError(err error) error {
	bad, ok := errors.AsType[*sandbox.ProgramError](err)
	if !ok {
		return fmt.Errorf("reading PDF: %w", err)
	}
	msg := bad.Msg
	switch bad.Class {
	case sandbox.OverTime:
		msg = fmt.Sprintf("reading the PDF takes longer than %s: split it, or save it again",
			sandbox.PDFLimits.Time)
	case sandbox.OverSpace:
		msg = fmt.Sprintf(
			"reading the PDF takes more memory than %d MiB: split it, or save it again",
			sandbox.PDFLimits.Memory>>20,
		)
	case sandbox.OverDepth, sandbox.Crashed:
		msg = "the PDF is broken and crashed its reader: save it again"
	case sandbox.OverSize, sandbox.Malformed, sandbox.BadInput, sandbox.Failed, sandbox.BadOutput:
	}
	return refused("%s", msg)
}

package embeds

import (
	"cmp"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/toolcrib/toolcrib/platform/publicform"
	"github.com/toolcrib/toolcrib/platform/publicpage"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
)

// shown is the form as the page gets it.
type shown struct {
	Title  string             `json:"title"`
	Asks   string             `json:"asks"` // The organisation.
	Acts   bool               `json:"acts"` // A call changes something: the person confirms it.
	Fields []publicform.Shown `json:"fields"`
}

func (h *Pages) form(w http.ResponseWriter, r *http.Request, g *toolembed.Grant) {
	resolved, err := h.service.open(r.Context(), g)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	d := &resolved.Version.Snapshot.Definition
	form, err := publicform.Of(d.InputSchema, nil)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.write(w, http.StatusOK, shown{
		Title: publicform.Clean(d.Name), Asks: cmp.Or(publicform.Clean(g.TenantName), "An organisation"),
		Acts: acts(resolved), Fields: form.Show(nil, nil),
	})
}

// sent is what the page sends of a form.
type sent struct {
	Once      string     `json:"once"`      // Names the call: sent again, it is the same one.
	Confirmed string     `json:"confirmed"` // What the person confirmed; empty at first.
	Values    url.Values `json:"values"`
}

// once has 96 bits or more.
var once = regexp.MustCompile(`^[A-Za-z0-9_-]{16,64}$`)

func (h *Pages) call(w http.ResponseWriter, r *http.Request, g *toolembed.Grant) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/json" {
		h.write(w, http.StatusUnsupportedMediaType, refusal{"media_type", "Send JSON."})
		return
	}
	var in sent
	read := json.NewDecoder(publicpage.Body(w, r, maxBody))
	read.DisallowUnknownFields()
	if err := read.Decode(&in); err != nil || read.More() || !once.MatchString(in.Once) {
		w.Header().Set("Connection", "close")
		h.write(w, http.StatusBadRequest, refusal{"malformed", "The form is too long, or damaged."})
		return
	}
	resolved, err := h.service.open(r.Context(), g)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	form, err := publicform.Of(resolved.Version.Snapshot.InputSchema, nil)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	input, problems := form.Read(in.Values)
	for name := range in.Values {
		if key, ok := strings.CutPrefix(name, "f."); !ok || !form.Has(key) {
			problems[""] = "The form does not ask for " + publicform.Clean(tool.Clip(name, 80)) + "."
		}
	}
	if len(problems) > 0 {
		h.faults(w, problems)
		return
	}
	arguments, err := h.service.arguments(r.Context(), resolved, &form, input)
	if err != nil {
		h.fault(w, r, &form, err)
		return
	}
	id := callID(g, in.Once)
	if acts(resolved) {
		confirm, err := confirmation(id, arguments)
		if err != nil {
			h.refuse(w, r, err)
			return
		}
		if in.Confirmed != confirm {
			h.write(w, http.StatusOK, map[string]string{"confirm": confirm})
			return
		}
	}
	out, err := h.service.call(r.Context(), g, id, arguments, firstWait)
	if err != nil {
		h.fault(w, r, &form, err)
		return
	}
	h.write(w, http.StatusOK, out)
}

// follow says what became of a call that was made with a token of the same caller for the same tool.
func (h *Pages) follow(w http.ResponseWriter, r *http.Request, g *toolembed.Grant, of string) {
	out, err := h.service.find(r.Context(), g, callID(g, of), longWait)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.write(w, http.StatusOK, out)
}

// fault answers with what is wrong with the input, or refuses the request.
func (h *Pages) fault(w http.ResponseWriter, r *http.Request, form *publicform.Form, err error) {
	if tool.KindOf(err) != tool.Invalid {
		h.refuse(w, r, err)
		return
	}
	h.faults(w, form.Problems(err))
}

func (h *Pages) faults(w http.ResponseWriter, problems map[string]string) {
	byName := map[string]string{}
	for key, problem := range problems {
		if key != "" {
			key = publicform.Name(key)
		}
		byName[key] = problem
	}
	h.write(w, http.StatusUnprocessableEntity, map[string]any{"problems": byName})
}

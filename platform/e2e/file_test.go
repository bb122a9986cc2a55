package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/inputpage"
	"github.com/toolcrib/toolcrib/wait"
)

// files is the service for files of the site, with contents in its database.
func (s *site) files() *file.Service {
	s.t.Helper()
	files, err := file.New(file.Config{Store: s.Store, Contents: []file.Contents{s.FileContents()}})
	require.NoError(s.t, err)
	return files
}

// asksForPhotoAndMarks is a model that asks for a photo, and then for marks on that photo.
func asksForPhotoAndMarks() agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		call := agent.Call{ID: "call_1", Name: "ask", Arguments: json.RawMessage(
			`{"title":"Damage","questions":[{"id":"photo","label":"Photo","type":"file","accept":["image/*"]}]}`)}
		switch req.Turn {
		case 1:
		case 2:
			var answered struct {
				Answer struct {
					Photo file.Reference `json:"photo"`
				} `json:"answer"`
			}
			last := req.Messages[len(req.Messages)-1].Content[0]
			if err := json.Unmarshal(last.JSON, &answered); err != nil {
				return nil, err
			}
			call.ID, call.Arguments = "call_2", json.RawMessage(
				`{"title":"Where?","markup":{"image":"`+answered.Answer.Photo.FileID+`"}}`)
		default:
			return &agent.ModelResponse{Text: "done"}, nil
		}
		return &agent.ModelResponse{Calls: []agent.Call{call}}, nil
	})
}

// An agent asks for a photo and for marks on it; a person answers through the pages without
// JavaScript. The run goes on, and has the files as its artifacts.
func TestFilesAndMarksAreAnswered(t *testing.T) {
	t.Parallel()

	c := newCounter(t)
	files := c.files()
	a := c.asked(inputTool(), map[string]agent.Model{"test": asksForPhotoAndMarks()})
	pages, err := inputpage.New(inputpage.Config{Calls: c.Store, Runs: c.runs, Files: files})
	require.NoError(t, err)
	server := httptest.NewServer(pages)
	t.Cleanup(server.Close)
	run, w := c.run(a, "go")
	var photo bytes.Buffer
	require.NoError(t, png.Encode(&photo, image.NewGray(image.Rect(0, 0, 40, 30))))

	called := c.waiting(1)[0]
	answer := func(write func(form *multipart.Writer)) {
		link, err := input.Link(&called, time.Now().Add(time.Minute))
		require.NoError(t, err)
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		write(form)
		require.NoError(t, form.Close())
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+link, &body)
		require.NoError(t, err)
		req.Header.Set("Content-Type", form.FormDataContentType())
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusSeeOther, resp.StatusCode, string(raw))
	}
	answer(func(form *multipart.Writer) {
		part, err := form.CreateFormFile("photo", "dent.jpg")
		require.NoError(t, err)
		_, err = part.Write(photo.Bytes())
		require.NoError(t, err)
	})
	first := called.ID
	require.Eventually(t, func() bool {
		open, err := c.ListCalls(t.Context(), wait.CallQuery{Tenant: c.principal.Tenant, Status: wait.CallsOpen, Limit: 10})
		require.NoError(t, err)
		if len(open) == 1 && open[0].ID != first {
			called = open[0]
		}
		return called.ID != first
	}, 60*time.Second, 20*time.Millisecond)
	answer(func(form *multipart.Writer) {
		require.NoError(t, form.WriteField("markup", `{"shapes":[{"kind":"stroke","points":[[0.1,0.2],[0.5,0.6]]}]}`))
	})
	out, err := c.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)

	kept, err := files.List(t.Context(), file.Query{Tenant: c.principal.Tenant, RunID: run.ID})
	require.NoError(t, err)
	require.Len(t, kept, 2)
	drawing, sent := kept[0], kept[1]
	require.Equal(t, file.Markup, drawing.Kind)
	require.Equal(t, "dent.jpg.png", sent.Name)
	for _, f := range kept {
		require.Nil(t, f.ExpiresAt)
		_, content, err := files.Open(t.Context(), c.principal.Tenant, f.ID)
		require.NoError(t, err)
		raw, err := file.ReadAll(content)
		require.NoError(t, err)
		if f.ID == sent.ID {
			require.Equal(t, photo.Bytes(), raw)
			continue
		}
		require.JSONEq(t, `{"version":1,"image":"`+sent.ID+`","shapes":[
			{"kind":"stroke","points":[[0.1,0.2],[0.5,0.6]],"x":0.1,"y":0.2,"width":0.4,"height":0.4}]}`, string(raw))
	}
	answers := c.answers(run.ID)
	require.Len(t, answers, 2)
	require.Contains(t, answers[0], sent.SHA256)
	require.Contains(t, answers[1], drawing.SHA256)
	require.Contains(t, answers[1], `"regions":[{"kind":"stroke","x":0.1,"y":0.2,"width":0.4,"height":0.4}]`)
	require.NotContains(t, answers[1], "points")
}

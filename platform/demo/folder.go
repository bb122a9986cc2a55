package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/goccy/go-yaml"

	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
)

// agentsModel is the line of an agent that names its transcript.
var agentsModel = regexp.MustCompile(`(?m)^model: scripted/.*\n`)

// definitions reads the tools and agents of a folder, all files of it, as
// "toolcrib apply -f" does. Their tools find the shop where it really listens,
// and their agents have the model that was picked.
func definitions(folder, address, model string) ([]json.RawMessage, error) {
	var out []json.RawMessage
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(file) //nolint:gosec // The examples of this repository.
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte(shop.Address), []byte(address))
		if model != scriptedModel {
			text = agentsModel.ReplaceAll(text, []byte("model: "+model+"\n"))
		}
		raw, err := yaml.YAMLToJSON(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, raw)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading definitions: %w", err)
	}
	return out, nil
}

// apply publishes definitions through the API, and returns the changes.
func apply(ctx context.Context, api *client.Client, defs []json.RawMessage) (string, error) {
	applied, err := api.Apply(ctx, v1.Apply{Definitions: defs})
	if err != nil {
		return "", err
	}
	counts := make(map[v1.Action]int)
	for _, item := range applied.Items {
		if item.Error != nil {
			return "", fmt.Errorf("%s %s: %w", item.Kind, item.Slug, item.Error)
		}
		counts[item.Action]++
	}
	return fmt.Sprintf("%d created, %d updated, %d unchanged", counts[v1.Created], counts[v1.Updated],
		counts[v1.Unchanged]), nil
}

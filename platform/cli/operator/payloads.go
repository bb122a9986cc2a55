package operator

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) payloadsCommand() *cobra.Command {
	return cli.Describe(cli.Group("payloads", "Encrypt what goes through Temporal: keys, their use, and reading histories",
		a.payloadsNewKeyCommand(), a.payloadsStatusCommand(), a.payloadsDecodeCommand()),
		`Servers and workers with payload keys encrypt arguments, results, memos, summaries and
the texts of failures before Temporal gets them. The keys are in no database: they are
given by `+payload.FileVariable+` or `+payload.KeysVariable+`, one key a line. The
first encrypts, all of them decrypt.

To replace the key: put a new one after the old one, everywhere; then before it,
everywhere; take the old one away when no workflow needs it, open or kept.`,
		`  toolcrib payloads new-key payload-keys
  toolcrib payloads status
  temporal workflow show --workflow-id t/… --output json | toolcrib payloads decode`)
}

func (a *app) payloadsNewKeyCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "new-key FILE", Short: "Make a file with a new payload key", Args: cli.Operands("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			err := payload.WriteKeyFile(args[0])
			if errors.Is(err, os.ErrExist) {
				return &tool.Error{Kind: tool.Conflict, Op: "payloads", Err: err, Msg: args[0] +
					" exists already, and what it may hold is not replaced: name another file"}
			}
			if err != nil {
				return err
			}
			keys, err := payload.ReadKeyFile(args[0])
			if err != nil {
				return err
			}
			shape := payloadKeyShape{File: args[0], Key: keys.IDs()[0]}
			return a.Printer.ShowLine(shape,
				"made %s with the key %s: keep a copy of it, and give it to servers and workers as %s",
				terminal.Clean(shape.File), shape.Key, payload.FileVariable)
		},
	}, `Makes a file with one random key, which its owner alone may read. Without a copy
of it, workflows whose payloads are encrypted by it cannot continue.`, `  toolcrib payloads new-key payload-keys`)
}

type payloadKeyShape struct {
	File string `json:"file"`
	Key  string `json:"key"`
}

// payloadUse is what the status shows of a key.
type payloadUse struct {
	Key       string `json:"key"`   // Empty for workflows that are not encrypted.
	State     string `json:"state"` // encrypts, decrypts, missing or none.
	Workflows int    `json:"workflows"`
	Example   string `json:"example,omitempty"`
}

func (a *app) payloadsStatusCommand() *cobra.Command {
	var file, queue string
	var temporal temporalFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "status", Short: "Show by which keys the payloads of open workflows are encrypted", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys, err := a.PayloadKeys(file)
			if err != nil {
				return err
			}
			opts, err := temporal.options(a.Env.Environ, a.Logger())
			if err != nil {
				return err
			}
			shapes, err := payloadUses(cmd.Context(), opts,
				cmp.Or(queue, a.Env.Getenv(cli.QueueVariable), serve.DefaultTaskQueue), keys)
			if err != nil {
				return err
			}
			return a.Printer.Show(shapes, func(w io.Writer) error { return writePayloadUses(w, shapes) })
		},
	}, `Lists the keys that are given here, and how many of the latest 2000 open workflows of
the task queue began with each. A workflow that began with one key may have payloads of
a newer one too; closed workflows keep theirs for the retention time of the namespace.`,
		`  toolcrib payloads status
  toolcrib payloads status --json | jq '.[] | select(.state == "missing")'`)
	cmd.Flags().StringVar(
		&queue, "task-queue", "", "where the workers listen (default "+serve.DefaultTaskQueue+"; "+cli.QueueVariable+")")
	cli.PayloadKeysFlag(cmd, &file)
	temporal.register(cmd)
	return cmd
}

func payloadUses(
	ctx context.Context, opts client.Options, queue string, keys *payload.Keyring,
) ([]payloadUse, error) {
	c, err := serve.DialTemporal(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	uses, err := payload.Uses(ctx, c, cmp.Or(opts.Namespace, client.DefaultNamespace), queue)
	if err != nil {
		return nil, &tool.Error{Kind: tool.Unavailable, Op: "payloads", Msg: err.Error(), Err: err}
	}
	shapes := []payloadUse{}
	for i, id := range keys.IDs() {
		state := "decrypts"
		if i == 0 {
			state = "encrypts"
		}
		shapes = append(shapes, payloadUse{Key: id, State: state})
	}
	for _, use := range uses {
		at := slices.IndexFunc(shapes, func(s payloadUse) bool { return s.Key == use.Key })
		if at < 0 {
			state := "missing"
			if use.Key == "" {
				state = "none"
			}
			shapes = append(shapes, payloadUse{Key: use.Key, State: state})
			at = len(shapes) - 1
		}
		shapes[at].Workflows, shapes[at].Example = use.Workflows, use.Example
	}
	return shapes, nil
}

func writePayloadUses(w io.Writer, shapes []payloadUse) error {
	rows := make([][]string, len(shapes))
	for i, s := range shapes {
		rows[i] = []string{cmp.Or(s.Key, "-"), s.State, strconv.Itoa(s.Workflows), terminal.Clean(s.Example)}
	}
	return terminal.Table(w, "KEY STATE OPEN_WORKFLOWS EXAMPLE~", rows)
}

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) toolCallCommand() *cobra.Command {
	var in v1.NewCall
	var arguments, file, mode string
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "call TOOL",
		Short: "Call a tool once and print its answer",
		Long: `Calls a tool durably and waits for its answer. A tool that answers no ends the
command with exit code 1, one that gave no answer with that of the failure. With
--id the call is made once, however often it is asked for.`,
		Example: `  toolcrib tool call datetime_utils --args '{"operation": "now"}'
  toolcrib tool call refundOrder --args-file refund.json --id refund-4711`,
		Args: operands("tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := readArguments(cmd.InOrStdin(), arguments, file)
			if err != nil {
				return err
			}
			seconds := wait.Seconds()
			in.Arguments, in.Mode, in.WaitS = raw, tool.Mode(mode), &seconds
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.Close()
			return a.call(cmd.Context(), c, args[0], in)
		},
	}
	cmd.Flags().StringVarP(&arguments, "args", "a", "", "arguments, a JSON object")
	cmd.Flags().StringVar(&file, "args-file", "", "file with the arguments; - for the standard input")
	cmd.Flags().StringVar(&in.Version, "version", "", "version or constraint, such as ^1.2")
	cmd.Flags().StringVar(&in.ID, "id", "", "makes the call one, however often it is asked for")
	cmd.Flags().StringVar(&mode, "mode", string(tool.Production), "production, or debug to use the draft")
	cmd.Flags().DurationVar(&wait, "wait", 30*time.Second, "how long to wait for the answer, up to 60s")
	return cmd
}

func readArguments(stdin io.Reader, text, file string) (json.RawMessage, error) {
	switch {
	case text != "" && file != "":
		return nil, usage("give one of --args and --args-file")
	case file != "":
		raw, err := readFile(file, stdin)
		if err != nil {
			return nil, &tool.Error{Kind: tool.NotFound, Msg: "reading the arguments: " + err.Error(), Err: err}
		}
		text = string(raw)
	case text == "":
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, &tool.Error{Kind: tool.Invalid, Msg: "the arguments are not JSON: quote them for the shell, as in --args '{\"id\": 1}'"}
	}
	return json.RawMessage(text), nil
}

func (a *app) call(ctx context.Context, c *client.Client, name string, in v1.NewCall) error {
	call, err := c.CallTool(ctx, name, in)
	if err != nil {
		return err
	}
	err = a.printer.show(call, func(w io.Writer) error {
		if call.Result == nil {
			_, err := fmt.Fprintf(w, "still running: follow it with toolcrib run wait %s\n", call.RunID)
			return err
		}
		return writeResult(w, call.Result)
	})
	if err == nil && call.Result != nil && call.Result.IsError {
		return &silentError{code: ExitFailure}
	}
	return err
}

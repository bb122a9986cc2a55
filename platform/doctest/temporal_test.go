package doctest_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
)

// temporalMain stands in for Temporal's own command, which this repository
// does not build: it asks a real server for the same.
func temporalMain(ctx context.Context, args []string) error {
	const known = "operator search-attribute create"
	rest, ok := strings.CutPrefix(strings.Join(args, "\x00"), strings.ReplaceAll(known, " ", "\x00")+"\x00")
	if !ok {
		return fmt.Errorf("this stands in for %q only", known)
	}
	var names, types []string
	each := func(list *[]string) func(string) error {
		return func(text string) error {
			*list = append(*list, text)
			return nil
		}
	}
	flags := flag.NewFlagSet("temporal", flag.ContinueOnError)
	flags.Func("name", "", each(&names))
	flags.Func("type", "", each(&types))
	if err := flags.Parse(strings.Split(rest, "\x00")); err != nil {
		return err
	}
	if len(names) == 0 || len(names) != len(types) {
		return errors.New("each --name needs a --type")
	}
	wanted := make(map[string]enumspb.IndexedValueType)
	for i, name := range names {
		kind, err := enumspb.IndexedValueTypeFromString(types[i])
		if err != nil {
			return err
		}
		wanted[name] = kind
	}
	options, err := envconfig.LoadDefaultClientOptions() // TEMPORAL_ADDRESS and its like.
	if err != nil {
		return err
	}
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: cmp.Or(options.Namespace, client.DefaultNamespace), SearchAttributes: wanted,
	})
	return err
}

package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/schedule"
)

func (a *app) scheduleCommand() *cobra.Command {
	return cli.Describe(cli.Group("schedule", "Run agents at certain times",
		a.scheduleListCommand(), a.scheduleCreateCommand(), a.scheduleShowCommand(), a.scheduleUpdateCommand(),
		a.scheduleDeleteCommand(), a.schedulePauseCommand(), a.scheduleResumeCommand(), a.scheduleTriggerCommand(),
		a.scheduleBackfillCommand(), a.scheduleNextCommand(), a.scheduleStartsCommand()),
		`A schedule runs an agent at the times of cron expressions in a time zone, or of an
interval. Its runs have the authority of the key that made it, as it is at each start.`,
		`  toolcrib schedule create nightly --agent desk --input 'Report' --cron '30 2 * * *' --time-zone Europe/Berlin
  toolcrib schedule next nightly
  toolcrib schedule starts nightly`)
}

// scheduleFlags are what a schedule is given by.
type scheduleFlags struct {
	input, overlap                 string
	every, offset, jitter, catchup time.Duration
	start, end                     string
	starts                         int64
}

func (f *scheduleFlags) register(a *app, cmd *cobra.Command, crons *[]string, zone *string) {
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "input of each run: JSON, or a text")
	flags.StringArrayVar(crons, "cron", nil, "cron expression of five fields, or @daily and the like; may be repeated")
	flags.StringVar(zone, "time-zone", "", "IANA time zone of the crons, such as Europe/Berlin (default UTC)")
	flags.DurationVar(&f.every, "every", 0, "interval from 1m, instead of crons")
	flags.DurationVar(&f.offset, "offset", 0, "shifts the times of an interval")
	flags.DurationVar(&f.jitter, "jitter", 0, "delays each start by a random time below this")
	flags.DurationVar(&f.catchup, "catchup", 0, "how late a start may be after an outage (default 1h)")
	flags.StringVar(&f.overlap, "overlap", "", "at a time while an earlier run goes on: "+overlapWords())
	flags.StringVar(&f.start, "start", "", "no time before it is meant, such as 2026-01-02T15:04:05Z")
	flags.StringVar(&f.end, "end", "", "no time after it is meant")
	flags.Int64Var(&f.starts, "starts", 0, "how many times may start a run (default no limit)")
	a.CompleteFlag(cmd, "overlap", cli.Words(overlapWords()))
}

func overlapWords() string {
	return strings.Join(each(schedule.Overlaps(), func(o schedule.Overlap) string { return string(o) }), " ")
}

// inputOf returns a text that is no JSON as a JSON string.
func inputOf(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := json.Marshal(text) // A text always encodes.
	return raw
}

func wholeSeconds(d time.Duration) int64 { return int64(d / time.Second) }

// instant reads a flag that holds a time; nil where it is empty.
func instant(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, cli.Usagef("--%s %q is no time such as 2026-01-02T15:04:05Z", flag, text)
	}
	return &t, nil
}

func (a *app) scheduleCreateCommand() *cobra.Command {
	var in v1.NewSchedule
	var f scheduleFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "create NAME", Short: "Make a schedule", Args: cli.Operands("name"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) (err error) {
			if in.StartAt, err = instant("start", f.start); err != nil {
				return err
			}
			if in.EndAt, err = instant("end", f.end); err != nil {
				return err
			}
			in.Name, in.Input, in.Overlap = args[0], inputOf(f.input), schedule.Overlap(f.overlap)
			in.EveryS, in.OffsetS = wholeSeconds(f.every), wholeSeconds(f.offset)
			in.JitterS, in.CatchupS = wholeSeconds(f.jitter), wholeSeconds(f.catchup)
			if f.starts > 0 {
				in.StartsLeft = &f.starts
			}
			made, err := c.CreateSchedule(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.showSchedule(made)
		}),
	}, `Makes a schedule, with --cron or --every. Runs have the authority of your key, as it
is when they start.`,
		`  toolcrib schedule create nightly --agent desk --input 'Report' --cron '30 2 * * *' --time-zone Europe/Berlin
  toolcrib schedule create often --agent desk --input '{"check":"stock"}' --every 15m --overlap buffer_one`)
	f.register(a, cmd, &in.Crons, &in.TimeZone)
	cmd.Flags().StringVar(&in.Agent, "agent", "", "slug of the agent (required)")
	cmd.Flags().StringVar(&in.Version, "version", "", "which version of the agent, such as ^1.2")
	cmd.Flags().BoolVar(&in.Paused, "paused", false, "begin paused")
	cmd.Flags().StringVar(&in.Note, "note", "", "why it is paused")
	return cmd
}

func (a *app) showSchedule(s v1.Schedule) error {
	return a.Printer.Show(s, func(out io.Writer) error {
		left := ""
		if s.StartsLeft != nil {
			left = strconv.FormatInt(*s.StartsLeft, 10)
		}
		pairs := []string{
			"schedule", s.Name, "id", s.ID, "state", scheduleState(s), "note", terminal.Clean(s.Note), "agent", s.Agent,
			"version", s.Version, "times", timesOf(s), "overlap", string(s.Overlap), "starts left", left,
			"authority", terminal.Clean(s.CreatedBy), "not synced", terminal.Clean(s.SyncError),
		}
		if s.Live != nil {
			pairs = append(pairs, "running", strconv.Itoa(s.Live.Running), "skipped", strconv.Itoa(s.Live.Skipped), "missed",
				strconv.Itoa(s.Live.Missed))
			if len(s.Live.Next) > 0 && !s.Paused {
				pairs = append(pairs, "next", s.Live.Next[0].Format(time.RFC3339))
			}
		}
		return terminal.Pairs(out, pairs...)
	})
}

func scheduleState(s v1.Schedule) string {
	switch {
	case !s.Synced:
		return "pending"
	case s.Paused:
		return "paused"
	default:
		return "active"
	}
}

func timesOf(s v1.Schedule) string {
	if s.EveryS > 0 {
		return fmt.Sprintf("every %s", time.Duration(s.EveryS)*time.Second)
	}
	return strings.Join(s.Crons, ", ") + " " + s.TimeZone
}

func (a *app) scheduleListCommand() *cobra.Command {
	list := (*client.Client).ListSchedules
	return cli.Describe(listCommand(a, "List schedules, newest first", list, listing[v1.Schedule]{
		header: "SCHEDULE STATE AGENT TIMES~ OVERLAP",
		row: func(s v1.Schedule) []string {
			return []string{s.Name, scheduleState(s), s.Agent, timesOf(s), string(s.Overlap)}
		},
		empty: "no schedules: make one with toolcrib schedule create NAME --agent AGENT --cron CRON",
	}), `Lists schedules, and when they run what.`, `  toolcrib schedule list
  toolcrib schedule list --json`)
}

// onSchedule is a command that does one thing to a schedule.
func (a *app) onSchedule(
	use, short, long string, do func(ctx context.Context, c *client.Client, name string) (v1.Schedule, error),
) *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: use + " SCHEDULE", Short: short, Args: cli.Operands("schedule"), ValidArgsFunction: a.completeSchedules,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			s, err := do(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return a.showSchedule(s)
		}),
	}, long, "  toolcrib schedule "+use+" nightly")
}

func (a *app) scheduleShowCommand() *cobra.Command {
	return a.onSchedule("show", "Show a schedule", `Shows a schedule, with its next time and counts as Temporal has them.`,
		func(ctx context.Context, c *client.Client, name string) (v1.Schedule, error) {
			return c.Schedule(ctx, name)
		})
}

func (a *app) schedulePauseCommand() *cobra.Command {
	var note string
	cmd := a.onSchedule("pause", "Pause a schedule",
		`Pauses a schedule: its times pass without a run, and are not made up for. Runs go on.`,
		func(ctx context.Context, c *client.Client, name string) (v1.Schedule, error) {
			return c.PauseSchedule(ctx, name, note)
		})
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}

func (a *app) scheduleResumeCommand() *cobra.Command {
	var note string
	cmd := a.onSchedule("resume", "Resume a schedule", `Resumes a schedule that was paused.`,
		func(ctx context.Context, c *client.Client, name string) (v1.Schedule, error) {
			return c.ResumeSchedule(ctx, name, note)
		})
	cmd.Flags().StringVar(&note, "note", "", "why")
	return cmd
}

func (a *app) scheduleTriggerCommand() *cobra.Command {
	return a.onSchedule("trigger", "Start a run of a schedule now",
		`Starts a run now, paused or not, under the overlap policy. toolcrib schedule starts
shows the run.`,
		func(ctx context.Context, c *client.Client, name string) (v1.Schedule, error) {
			return c.TriggerSchedule(ctx, name)
		})
}

func (a *app) scheduleDeleteCommand() *cobra.Command {
	return a.onSchedule("delete", "Delete a schedule", `Deletes a schedule with the record of its starts. Its runs go on.`,
		func(ctx context.Context, c *client.Client, name string) (v1.Schedule, error) {
			return c.DeleteSchedule(ctx, name)
		})
}

func (a *app) scheduleUpdateCommand() *cobra.Command {
	var in v1.ScheduleChange
	var f scheduleFlags
	var zone, agentSlug, version string
	cmd := cli.Describe(&cobra.Command{
		Use: "update SCHEDULE", Short: "Change a schedule", Args: cli.Operands("schedule"),
		ValidArgsFunction: a.completeSchedules,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) (err error) {
			changed := cmd.Flags().Changed
			for name, field := range map[string]struct {
				from *string
				to   **string
			}{"time-zone": {&zone, &in.TimeZone}, "agent": {&agentSlug, &in.Agent}, "version": {&version, &in.Version}} {
				if changed(name) {
					*field.to = field.from
				}
			}
			for name, field := range map[string]struct {
				from time.Duration
				to   **int64
			}{
				"every": {f.every, &in.EveryS}, "offset": {f.offset, &in.OffsetS}, "jitter": {f.jitter, &in.JitterS},
				"catchup": {f.catchup, &in.CatchupS},
			} {
				if changed(name) {
					*field.to = new(wholeSeconds(field.from))
				}
			}
			if changed("input") {
				in.Input = inputOf(f.input)
			}
			if changed("overlap") {
				in.Overlap = new(schedule.Overlap(f.overlap))
			}
			if changed("starts") {
				in.StartsLeft = &f.starts
			}
			if in.StartAt, err = instant("start", f.start); err != nil {
				return err
			}
			if in.EndAt, err = instant("end", f.end); err != nil {
				return err
			}
			s, err := c.ChangeSchedule(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			return a.showSchedule(s)
		}),
	}, `Changes what the flags name. A change of agent, version or input gives later runs the
authority of your key, as --take-over does.`,
		`  toolcrib schedule update nightly --cron '30 3 * * *'
  toolcrib schedule update nightly --take-over`)
	f.register(a, cmd, &in.Crons, &zone)
	cmd.Flags().StringVar(&agentSlug, "agent", "", "slug of the agent")
	cmd.Flags().StringVar(&version, "version", "", "which version of the agent; empty for the highest published")
	cmd.Flags().BoolVar(&in.TakeOver, "take-over", false, "give later runs the authority of your key")
	cmd.Flags().BoolVar(&in.Unbounded, "unbounded", false, "remove start, end and starts")
	return cmd
}

func (a *app) scheduleBackfillCommand() *cobra.Command {
	var from, until, overlap string
	cmd := cli.Describe(&cobra.Command{
		Use: "backfill SCHEDULE", Short: "Start the runs of past times that have none", Args: cli.Operands("schedule"),
		ValidArgsFunction: a.completeSchedules,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			first, err := instant("from", from)
			if err != nil {
				return err
			}
			last, err := instant("until", until)
			if err != nil {
				return err
			}
			if first == nil || last == nil {
				return cli.Usagef("a backfill needs --from and --until")
			}
			times, err := c.BackfillSchedule(cmd.Context(), args[0], v1.ScheduleBackfill{
				From: *first, Until: *last, Overlap: schedule.Overlap(overlap),
			})
			if err != nil {
				return err
			}
			return a.showTimes(times)
		}),
	}, `Starts the runs of the times of a past window, and prints the times. One that has a
run gets no other.`,
		`  toolcrib schedule backfill nightly --from 2026-01-01T00:00:00Z --until 2026-01-08T00:00:00Z`)
	cmd.Flags().StringVar(&from, "from", "", "start of the window (required)")
	cmd.Flags().StringVar(&until, "until", "", "end of the window (required)")
	cmd.Flags().StringVar(&overlap, "overlap", "", "between these runs (default buffer_all): "+overlapWords())
	a.CompleteFlag(cmd, "overlap", cli.Words(overlapWords()))
	return cmd
}

func (a *app) scheduleNextCommand() *cobra.Command {
	var from, until string
	var q client.TimesQuery
	cmd := cli.Describe(&cobra.Command{
		Use: "next SCHEDULE", Short: "Show the next times of a schedule", Args: cli.Operands("schedule"),
		ValidArgsFunction: a.completeSchedules,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			for _, field := range []struct {
				flag, text string
				to         *time.Time
			}{{"from", from, &q.From}, {"until", until, &q.Until}} {
				t, err := instant(field.flag, field.text)
				if err != nil {
					return err
				}
				if t != nil {
					*field.to = *t
				}
			}
			times, err := c.ScheduleTimes(cmd.Context(), args[0], q)
			if err != nil {
				return err
			}
			return a.showTimes(times)
		}),
	}, `Shows times of a schedule as Temporal computes them, the changes of clocks included,
whether it is paused or not.`,
		`  toolcrib schedule next nightly
  toolcrib schedule next nightly --from 2026-03-28T00:00:00Z --limit 3`)
	cmd.Flags().StringVar(&from, "from", "", "start of the window (default now)")
	cmd.Flags().StringVar(&until, "until", "", "end of the window")
	cmd.Flags().IntVar(&q.Limit, "limit", 10, "how many times")
	return cmd
}

func (a *app) showTimes(times v1.ScheduleTimes) error {
	return a.Printer.Show(times, func(out io.Writer) error {
		for _, t := range times.Times {
			if _, err := fmt.Fprintln(out, t.Format("Mon "+time.RFC3339)); err != nil {
				return err
			}
		}
		return nil
	})
}

// completeSchedules completes names of schedules.
func (a *app) completeSchedules(
	cmd *cobra.Command, args []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	return cli.FirstOnly(func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
			page, err := c.ListSchedules(ctx, client.Page{Limit: completionNames})
			return each(page.Items, func(s v1.Schedule) string { return s.Name }), err
		})
	})(cmd, args, typed)
}

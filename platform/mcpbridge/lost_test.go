package mcpbridge_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// The stream of a session is opened again until the server has a place for it.
func TestTheStreamIsOpenedAgain(t *testing.T) {
	t.Parallel()

	for _, code := range []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError} {
		gets := 0
		bridged(t, func(ctx context.Context, a *asked) *http.Response {
			switch {
			case a.Method == "initialize":
				return opened(a, "s")
			case a.http != http.MethodGet:
				return nil
			}
			if gets++; gets < 5 {
				return status(code)
			}
			return streams(ctx, func(w io.Writer) {
				_, _ = io.WriteString(w, event(`{"jsonrpc":"2.0","id":"bridge-1","result":{}}`)+
					event(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
				beats(ctx, w, 1000)
			})
		}, func(n *near, _ *server) {
			n.begins()
			n.say(initialized)
			require.Contains(t, n.hear(), "list_changed", code)
			n.silent(time.Hour)
			require.Equal(t, 5, gets)
		})
	}
}

// A server that ends each stream at once is asked ever more rarely.
func TestStreamsThatEndAtOnce(t *testing.T) {
	t.Parallel()

	gets := 0
	bridged(t, func(ctx context.Context, a *asked) *http.Response {
		switch {
		case a.Method == "initialize":
			return opened(a, "s")
		case a.http == http.MethodGet:
			gets++
			return streams(ctx, func(io.Writer) {})
		}
		return nil
	}, func(n *near, _ *server) {
		n.begins()
		n.say(initialized)
		n.silent(10 * time.Minute)
		require.Less(t, gets, 140)
	})
}

// A key with too many sessions gets one later; what the server refuses for good is said at once.
func TestASessionIsOpenedLater(t *testing.T) {
	t.Parallel()

	for _, passing := range []bool{true, false} {
		opens, lost := 0, true
		bridged(t, func(_ context.Context, a *asked) *http.Response {
			switch {
			case a.Method == "initialize":
				if opens++; opens == 1 || passing && opens > 5 {
					return opened(a, fmt.Sprint("s", opens))
				}
				return whole(answers(a, fmt.Sprintf(
					`"error":{"code":-32603,"message":"64 sessions in use","data":{"retryable":%t}}`, passing)))
			case a.Method == "ping" && lost:
				lost = false
				return status(http.StatusNotFound)
			case a.Method == "ping":
				return whole(answers(a, `"result":{"ok":true}`))
			}
			return nil
		}, func(n *near, _ *server) {
			n.begins()
			n.say(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
			if said := n.hear(); passing {
				require.Contains(t, said, `"ok":true`)
				require.Equal(t, 6, opens)
			} else {
				require.Contains(t, said, "64 sessions in use")
				require.Equal(t, 2, opens)
			}
		})
	}
}

// A person's answer that the server has no place for is sent again, and one that is lost is in the log.
func TestAnswersAreSentAgain(t *testing.T) {
	t.Parallel()

	for _, code := range []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusNotFound} {
		log := ""
		replies := 0
		bridged(t, func(ctx context.Context, a *asked) *http.Response {
			switch {
			case a.Method == "initialize":
				return opened(a, "s")
			case a.Method == "tools/call":
				return streams(ctx, func(w io.Writer) {
					_, _ = io.WriteString(w, event(`{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{}}`))
					beats(ctx, w, 1000)
				})
			case a.Method == "" && a.Result != nil:
				if replies++; replies < 4 {
					return status(code)
				}
			}
			return nil
		}, func(n *near, _ *server) {
			n.begins()
			n.say(call)
			require.Contains(t, n.hear(), "elicitation/create")
			n.say(`{"jsonrpc":"2.0","id":"1:3","result":{"action":"accept"}}`)
			time.Sleep(20 * time.Second)
			synctest.Wait()
			log = n.log.String()
		})
		if code == http.StatusNotFound {
			require.Equal(t, 1, replies)
			require.Contains(t, log, "message of the client was lost")
			require.Contains(t, log, "status=404")
			continue
		}
		require.Equal(t, 4, replies, code)
		require.NotContains(t, log, "lost")
	}
}

// A call is named where its client did not: null is no name. One that has no place for a name is sent once.
func TestCallsWithoutANameAreSentOnce(t *testing.T) {
	t.Parallel()

	for params, named := range map[string]bool{
		`{"name":"look"}`: true,
		`{"name":"look","_meta":{"toolcrib/call-id":null}}`:   true,
		`{"name":"look","_meta":null}`:                        true,
		`{"name":"look","_META":{"toolcrib/call-id":"mine"}}`: true,
		`{"name":"look","_meta":["x"]}`:                       false,
		`["look"]`:                                            false,
	} {
		calls := 0
		bridged(t, func(ctx context.Context, a *asked) *http.Response {
			switch a.Method {
			case "initialize":
				return opened(a, "s")
			case "tools/call":
				if calls++; calls == 1 {
					return streams(ctx, func(io.Writer) {})
				}
				return whole(answers(a, `"result":{"content":[]}`))
			}
			return nil
		}, func(n *near, s *server) {
			n.begins()
			n.say(strings.Replace(call, `{"name":"look"}`, params, 1))
			said := n.hear()
			if !named {
				require.Contains(t, said, "is not sent again", params)
				require.Len(t, s.of("tools/call"), 1)
				return
			}
			require.Contains(t, said, `"content":[]`, params)
			got := s.of("tools/call")
			require.Regexp(t, "^bridge-", got[0].callID(t), params)
			require.Equal(t, got[0].callID(t), got[1].callID(t), params)
		})
	}
}

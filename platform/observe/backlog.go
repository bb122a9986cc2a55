package observe

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/api/enums/v1"
	taskqueue "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

const (
	backlogTimeout = 3 * time.Second
	// backlogAge is how long an answer of Temporal is cached, however often
	// metrics are scraped.
	backlogAge = 15 * time.Second
)

// Backlog returns a collector of how many tasks wait on a task queue, and for
// how long the oldest has waited. Temporal is queried during a scrape, but not
// at each one; while it does not answer, no value is reported.
func Backlog(c client.Client, namespace, queue string) prometheus.Collector {
	return &backlog{temporal: c, namespace: namespace, queue: queue}
}

type backlog struct {
	temporal         client.Client
	namespace, queue string

	mu    sync.Mutex
	asked time.Time
	found []waiting
}

// waiting is the backlog of one type of task.
type waiting struct {
	kind  string
	count int64
	age   time.Duration
}

var (
	backlogCount = prometheus.NewDesc("toolcrib_task_queue_backlog", "Tasks that wait for a worker, approximately.",
		[]string{"task_queue", "type"}, nil)
	backlogOldest = prometheus.NewDesc("toolcrib_task_queue_backlog_age_seconds", "How long the oldest of them waits.",
		[]string{"task_queue", "type"}, nil)
)

// Describe implements [prometheus.Collector].
func (b *backlog) Describe(into chan<- *prometheus.Desc) {
	into <- backlogCount
	into <- backlogOldest
}

// Collect implements [prometheus.Collector].
func (b *backlog) Collect(into chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.asked) >= backlogAge {
		b.found = b.ask()
		b.asked = time.Now()
	}
	for _, w := range b.found {
		into <- prometheus.MustNewConstMetric(backlogCount, prometheus.GaugeValue, float64(w.count), b.queue, w.kind)
		into <- prometheus.MustNewConstMetric(backlogOldest, prometheus.GaugeValue, w.age.Seconds(), b.queue, w.kind)
	}
}

func (b *backlog) ask() []waiting {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	var out []waiting
	for _, q := range []struct {
		kind string
		of   enums.TaskQueueType
	}{{"workflow", enums.TASK_QUEUE_TYPE_WORKFLOW}, {"activity", enums.TASK_QUEUE_TYPE_ACTIVITY}} {
		answer, err := b.temporal.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: b.namespace, TaskQueue: &taskqueue.TaskQueue{Name: b.queue}, TaskQueueType: q.of, ReportStats: true,
		})
		if stats := answer.GetStats(); err == nil && stats != nil {
			out = append(out, waiting{
				kind: q.kind, count: stats.GetApproximateBacklogCount(), age: stats.GetApproximateBacklogAge().AsDuration(),
			})
		}
	}
	return out
}

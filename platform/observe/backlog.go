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

// Backlog returns a collector of the number of tasks in a task queue, and of the
// age of the oldest. It queries Temporal during a scrape, but at most once per
// backlogAge; if Temporal does not respond, no value is reported.
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
	backlogCount = prometheus.NewDesc("toolcrib_task_queue_backlog", "Approximate number of tasks that wait for a worker.",
		[]string{"task_queue", "type"}, nil)
	backlogOldest = prometheus.NewDesc("toolcrib_task_queue_backlog_age_seconds", "Age of the oldest waiting task.",
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

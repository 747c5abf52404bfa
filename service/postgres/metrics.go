package postgres

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	queueLength = prometheus.NewDesc("mayfly_store_queue", "Changes that are waiting for the database.", nil, nil)
	connections = prometheus.NewDesc("mayfly_store_connections", "Connections to the database.", []string{"state"}, nil)
	accepting   = prometheus.NewDesc("mayfly_store_writable", "1 while the store can be written, else 0.", nil, nil)
)

// newCommitTimes returns a histogram of how long transactions of deliveries take.
func newCommitTimes() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "mayfly_store_sync_seconds",
		Help:    "Time to sync a group of changes to disk.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	})
}

// Describe implements prometheus.Collector.
func (s *Store) Describe(ch chan<- *prometheus.Desc) {
	s.commits.Describe(ch)
	for _, d := range []*prometheus.Desc{queueLength, connections, accepting} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *Store) Collect(ch chan<- prometheus.Metric) {
	s.commits.Collect(ch)
	writable := 1.0
	if s.Ready(context.Background()) != nil {
		writable = 0
	}
	var waiting int
	var used, idle int32
	for _, v := range s.all() {
		waiting += v.deliveries.length()
		stat := v.pool.Stat()
		used, idle = used+stat.AcquiredConns(), idle+stat.IdleConns()
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(queueLength, float64(waiting))
	gauge(connections, float64(used), "in use")
	gauge(connections, float64(idle), "idle")
	gauge(accepting, writable)
}

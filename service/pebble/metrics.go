package pebble

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

var (
	syncSeconds = prometheus.NewDesc("mayfly_store_sync_seconds", "Time to sync a group of changes to disk.", nil, nil)
	queueLength = prometheus.NewDesc("mayfly_store_queue", "Changes that are waiting for the disk.", nil, nil)
	diskBytes   = prometheus.NewDesc("mayfly_store_bytes", "Disk space that the store takes.", nil, nil)
	accepting   = prometheus.NewDesc("mayfly_store_writable", "1 while the store can be written, else 0.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *Store) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{syncSeconds, queueLength, diskBytes, accepting} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *Store) Collect(ch chan<- prometheus.Metric) {
	v := s.views.take() // keeps the store open
	if v == nil {
		return
	}
	defer func() { _ = s.views.release(v) }() // nothing was read
	m := s.db.Metrics()
	var sync dto.Metric
	if err := m.LogWriter.FsyncLatency.Write(&sync); err != nil {
		ch <- prometheus.NewInvalidMetric(syncSeconds, err)
	} else {
		// The database counts nanoseconds.
		h := sync.GetHistogram()
		buckets := make(map[float64]uint64, len(h.GetBucket()))
		for _, b := range h.GetBucket() {
			buckets[b.GetUpperBound()/1e9] = b.GetCumulativeCount()
		}
		ch <- prometheus.MustNewConstHistogram(syncSeconds, h.GetSampleCount(), h.GetSampleSum()/1e9, buckets)
	}
	writable := 1.0
	if s.Ready(context.Background()) != nil {
		writable = 0
	}
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	gauge(queueLength, float64(s.waiting.Load()))
	gauge(diskBytes, float64(m.DiskSpaceUsage()))
	gauge(accepting, writable)
}

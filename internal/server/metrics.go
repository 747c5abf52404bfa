package server

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mayfly/service"
	"mayfly/service/webhook"
)

// newMetricsServer returns a server of /metrics for Prometheus. It is separate from the REST API
// because it needs no key.
func newMetricsServer(r *prometheus.Registry, store store, svc *service.Service, webhooks *webhook.Sender, log *slog.Logger) *http.Server {
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		store, usage{svc}, collectors.NewBuildInfoCollector())
	promauto.With(r).NewGaugeFunc(prometheus.GaugeOpts{Name: "mayfly_store_writable", Help: "1 while the store can be written, else 0."}, func() float64 {
		if svc.Ready(context.Background()) != nil {
			return 0
		}
		return 1
	})
	if webhooks != nil {
		countWebhooks(promauto.With(r), webhooks)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError)}))
	return &http.Server{
		Handler:           mux,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// usage has what API keys use of their plans.
type usage struct{ service *service.Service }

var (
	keyLabels     = []string{"key", "name", "plan"}
	keyInboxes    = prometheus.NewDesc("mayfly_key_inboxes", "Inboxes that an API key has.", keyLabels, nil)
	keyMaxInboxes = prometheus.NewDesc("mayfly_key_inboxes_limit", "Inbox limit of its plan.", keyLabels, nil)
	keyEmails     = prometheus.NewDesc("mayfly_key_messages_today", "Messages that an API key received on this UTC day.", keyLabels, nil)
	keyMaxEmails  = prometheus.NewDesc("mayfly_key_messages_limit", "Daily quota of messages in its plan.", keyLabels, nil)
)

// Describe implements prometheus.Collector.
func (usage) Describe(ch chan<- *prometheus.Desc) { ch <- keyInboxes }

// Collect implements prometheus.Collector.
func (u usage) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), databaseTimeout)
	defer cancel()
	all, _ := u.service.Usage(ctx) // without a store, the other metrics say what is wrong
	for _, k := range all {
		limits := k.Plan.Limits()
		for desc, n := range map[*prometheus.Desc]int{
			keyInboxes: k.Inboxes, keyMaxInboxes: limits.EmailsPerDay * service.InboxesPerEmail, keyEmails: k.EmailsToday, keyMaxEmails: limits.EmailsPerDay,
		} {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), k.ID, k.Name, string(k.Plan))
		}
	}
}

// countWebhooks registers the statistics of the webhooks.
func countWebhooks(with promauto.Factory, sender *webhook.Sender) {
	counter := func(name, help string, value func(webhook.Stats) int64) {
		with.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value(sender.Stats())) })
	}
	counter("mayfly_webhook_sent_total", "Messages that the receiver has accepted.", func(st webhook.Stats) int64 { return st.Sent })
	counter("mayfly_webhook_failed_requests_total", "Requests that failed.", func(st webhook.Stats) int64 { return st.Failed })
	counter("mayfly_webhook_dropped_total", "Messages dropped: the queue was full, or the last request failed.", func(st webhook.Stats) int64 { return st.Dropped })
	with.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mayfly_webhook_queue", Help: "Messages to be sent, or to be sent again.",
	}, func() float64 { return float64(sender.Stats().Queued) })
}

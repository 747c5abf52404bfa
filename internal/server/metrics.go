package server

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mayfly/service/smtp"
	"mayfly/service/webhook"
)

// newMetricsServer returns a server of /metrics for Prometheus. It is separate from the REST API
// because it needs no key.
func newMetricsServer(r *prometheus.Registry, store store, mail *smtp.Server, webhooks *webhook.Sender, log *slog.Logger) *http.Server {
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		store, smtpCollector{mail})
	if webhooks != nil {
		r.MustRegister(webhookCollector{webhooks})
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

// smtpCollector collects the statistics of the SMTP server.
type smtpCollector struct{ server *smtp.Server }

var (
	smtpConnections = prometheus.NewDesc("mayfly_smtp_connections", "SMTP connections that are open.", nil, nil)
	smtpSessions    = prometheus.NewDesc("mayfly_smtp_sessions_total", "SMTP sessions started.", nil, nil)
	smtpAccepted    = prometheus.NewDesc("mayfly_smtp_accepted_total", "Messages accepted and stored.", nil, nil)
	smtpBytes       = prometheus.NewDesc("mayfly_smtp_accepted_bytes_total", "Bytes of accepted messages.", nil, nil)
	smtpDelivering  = prometheus.NewDesc("mayfly_smtp_delivering", "Messages that are being stored.", nil, nil)
	smtpInFlight    = prometheus.NewDesc("mayfly_smtp_in_flight_bytes", "Memory of messages not yet stored.", nil, nil)
	smtpChaos       = prometheus.NewDesc("mayfly_smtp_chaos_total", "Faults on purpose, by rule.", []string{"rule"}, nil)
	smtpRefused     = prometheus.NewDesc("mayfly_smtp_refused_total", "Commands, messages and connections refused, by reason.", []string{"reason"}, nil)
)

// Describe implements prometheus.Collector.
func (c smtpCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c smtpCollector) Collect(ch chan<- prometheus.Metric) {
	st := c.server.Stats()
	gauge, counter := constMetrics(ch)
	gauge(smtpConnections, float64(st.Connections))
	counter(smtpSessions, float64(st.Sessions))
	counter(smtpAccepted, float64(st.Accepted))
	counter(smtpBytes, float64(st.AcceptedBytes))
	gauge(smtpDelivering, float64(st.Delivering))
	gauge(smtpInFlight, float64(st.InFlightBytes))
	for rule, n := range st.Chaos {
		counter(smtpChaos, float64(n), rule)
	}
	for reason, n := range st.Refused {
		counter(smtpRefused, float64(n), string(reason))
	}
}

// webhookCollector collects the statistics of the webhooks.
type webhookCollector struct{ sender *webhook.Sender }

var (
	webhooksSent    = prometheus.NewDesc("mayfly_webhook_sent_total", "Messages that the receiver has taken note of.", nil, nil)
	webhooksFailed  = prometheus.NewDesc("mayfly_webhook_failed_requests_total", "Requests that failed.", nil, nil)
	webhooksDropped = prometheus.NewDesc("mayfly_webhook_dropped_total", "Messages dropped: the queue was full, or the last request failed.", nil, nil)
	webhookQueue    = prometheus.NewDesc("mayfly_webhook_queue", "Messages to be sent, or to be sent again.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c webhookCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c webhookCollector) Collect(ch chan<- prometheus.Metric) {
	st := c.sender.Stats()
	gauge, counter := constMetrics(ch)
	counter(webhooksSent, float64(st.Sent))
	counter(webhooksFailed, float64(st.Failed))
	counter(webhooksDropped, float64(st.Dropped))
	gauge(webhookQueue, float64(st.Queued))
}

// constMetrics returns functions that report the value of a gauge and of a counter.
func constMetrics(ch chan<- prometheus.Metric) (gauge func(*prometheus.Desc, float64), counter func(*prometheus.Desc, float64, ...string)) {
	gauge = func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	counter = func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	return gauge, counter
}

package rest

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the Prometheus metrics of the API. No label has a value that a client can choose,
// which would make an unbounded number of series.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	guesses  prometheus.Counter
}

func newMetrics(r prometheus.Registerer, longPolls func() float64) *metrics {
	promauto.With(r).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mayfly_http_long_polls",
		Help: "Requests that are waiting for a change.",
	}, longPolls)
	return &metrics{
		requests: promauto.With(r).NewCounterVec(prometheus.CounterOpts{
			Name: "mayfly_http_requests_total",
			Help: "Requests answered, by path, method and status. Status 0: the client had left.",
		}, []string{"path", "method", "status"}),
		seconds: promauto.With(r).NewHistogramVec(prometheus.HistogramOpts{
			Name:    "mayfly_http_request_seconds",
			Help:    "Time to answer, excluding that of long polls.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"path"}),
		guesses: promauto.With(r).NewCounter(prometheus.CounterOpts{
			Name: "mayfly_http_guesses_refused_total",
			Help: "Requests refused because of too many wrong keys from their address.",
		}),
	}
}

func (m *metrics) answered(path, method string, status int, took time.Duration) {
	switch method {
	case "GET", "HEAD", "POST", "DELETE":
	default:
		method = "other"
	}
	m.requests.WithLabelValues(path, method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(path).Observe(took.Seconds())
}

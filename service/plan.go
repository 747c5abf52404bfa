package service

import "time"

// Plan is what a key was sold with.
type Plan string

const (
	Free       Plan = "free" // no access
	Dev        Plan = "dev"
	Startup    Plan = "startup"
	Enterprise Plan = "enterprise"
)

// Plans lists all plans, the smallest first.
func Plans() []Plan { return []Plan{Free, Dev, Startup, Enterprise} }

// Limits of a plan. All are zero for Free and for a plan that does not exist.
type Limits struct {
	RequestsPerMinute int           // in any 60 seconds
	EmailsPerDay      int           // messages accepted in a UTC day
	MaxTTL            time.Duration // of an inbox
}

// Limits returns what the plan allows.
func (p Plan) Limits() Limits {
	switch p {
	case Dev:
		return Limits{60, 1_000, 24 * time.Hour}
	case Startup:
		return Limits{300, 10_000, 7 * 24 * time.Hour}
	case Enterprise:
		return Limits{1_000, 100_000, 30 * 24 * time.Hour}
	}
	return Limits{}
}

// ParsePlan returns the plan of that name, or an error of code Invalid.
func ParsePlan(name string) (Plan, error) {
	switch p := Plan(name); p {
	case Free, Dev, Startup, Enterprise:
		return p, nil
	}
	return "", Errorf(Invalid, "unknown plan %q: want free, dev, startup or enterprise", name)
}

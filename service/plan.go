package service

import "time"

// Plan is the set of limits that a key has.
type Plan string

const (
	Free       Plan = "free" // no access
	Dev        Plan = "dev"
	Startup    Plan = "startup"
	Enterprise Plan = "enterprise"
)

// Plans returns all plans, smallest first.
func Plans() []Plan { return []Plan{Free, Dev, Startup, Enterprise} }

// Limits are the limits of a plan. They are zero for Free and for an unknown plan.
type Limits struct {
	RequestsPerMinute int           // in any 60 seconds
	EmailsPerDay      int           // messages accepted in a UTC day
	MaxTTL            time.Duration // of an inbox
}

// Limits returns the limits of the plan.
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

// ParsePlan returns the plan with the name, or an error of code Invalid.
func ParsePlan(name string) (Plan, error) {
	switch p := Plan(name); p {
	case Free, Dev, Startup, Enterprise:
		return p, nil
	}
	return "", Errorf(Invalid, "unknown plan %q: want free, dev, startup or enterprise", name)
}

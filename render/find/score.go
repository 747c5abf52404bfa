package find

import (
	"cmp"
	"fmt"
	"slices"
)

// Scores from which something is found.
const (
	enoughForCode = 3.6
	tieOfCodes    = 0.6 // with another candidate this close to the best, neither is chosen
	enoughForLink = 3.6
	tieOfLinks    = 0.3
)

// feature is a predicate or a measure of a candidate C, and what it is worth in points: as a person
// sees it, and as fitted to the fixtures by "go test ./render/find -run TestFit -fit", which holds it
// to the former. A score is the sum of the fitted ones. A new feature has the same figure twice until
// the next fit.
//
// Figures of the fit:
//
//   - Codes by hand: 2850 right, 8 missed, 0 wrong, likelihood -129.77.
//   - Codes fitted to nine tenths of the sources, on the tenth left out: 2855 right, 3 missed, 0 wrong, likelihood -49.08.
//   - Codes fitted to all: 2858 right, 0 missed, 0 wrong, likelihood -24.66.
//   - Links by hand: 2832 right, 27 missed, 0 wrong, likelihood -138.18.
//   - Links fitted to nine tenths of the sources, on the tenth left out: 2857 right, 2 missed, 0 wrong, likelihood -19.03.
//   - Links fitted to all: 2859 right, 0 missed, 0 wrong, likelihood -8.86.
type feature[C any] struct {
	name         string
	hand, fitted float64
	value        func(C) float64
	detail       func(C) string // what in the message it is about; nil if the name says all
}

// measure is a feature that may hold more than once, or in part.
func measure[C any](name string, hand, fitted float64, value func(C) float64) feature[C] {
	return feature[C]{name: name, hand: hand, fitted: fitted, value: value}
}

// when is a feature that holds or does not.
func when[C any](name string, hand, fitted float64, holds func(C) bool) feature[C] {
	return measure(name, hand, fitted, func(c C) float64 {
		if holds(c) {
			return 1
		}
		return 0
	})
}

// about adds a detail to a feature.
func (f feature[C]) about(detail func(C) string) feature[C] {
	f.detail = detail
	return f
}

// model is what speaks for and against a candidate.
type model[C any] []feature[C]

func (m model[C]) score(c C) float64 {
	sum := 0.0
	for i := range m {
		sum += m[i].fitted * m[i].value(c)
	}
	return sum
}

// reasons returns the features that hold and count.
func (m model[C]) reasons(c C) []Reason {
	var all []Reason
	for _, f := range m {
		v := f.value(c)
		if v == 0 || f.fitted == 0 {
			continue
		}
		r := Reason{Feature: f.name, Weight: f.fitted, Value: v}
		if f.detail != nil {
			r.Detail = f.detail(c)
		}
		all = append(all, r)
	}
	return all
}

// Reason is a feature of a candidate. It adds Weight times Value to the score; Value is 1 for what
// holds or does not.
type Reason struct {
	Feature, Detail string
	Weight, Value   float64
}

// String formats a reason as it is shown: `+4.00 word that means a code: "passcode" before it`.
func (r Reason) String() string {
	s := fmt.Sprintf("%+.2f %s", r.Weight*r.Value, r.Feature)
	if r.Value != 1 {
		s += fmt.Sprintf(" (%+.2f × %.2f)", r.Weight, r.Value)
	}
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	return s
}

// scored is a candidate with its score.
type scored[C any] struct {
	candidate C
	score     float64
}

// mostShown is how many candidates are returned.
const mostShown = 5

// best returns the best candidates with a score above 0, and whether the first may be chosen: it is
// good enough, and better than the second by more than a tie.
func best[C any](all []scored[C], enough, tie float64) ([]scored[C], bool) {
	all = slices.DeleteFunc(all, func(s scored[C]) bool { return s.score <= 0 })
	slices.SortStableFunc(all, func(a, b scored[C]) int { return cmp.Compare(b.score, a.score) })
	chosen := len(all) > 0 && all[0].score >= enough && (len(all) == 1 || all[0].score-all[1].score >= tie)
	return all[:min(len(all), mostShown)], chosen
}

package find

import (
	"cmp"
	"fmt"
	"slices"
)

// feature is something that may hold for a candidate C: a predicate, or a measure. It does not say
// what that is worth: weights.go does.
type feature[C any] struct {
	name  string
	value func(C) float64
	// detail says what in the message it is about; nil if the name says all.
	detail func(C) string
}

// when is a feature that holds or does not.
func when[C any](name string, holds func(C) bool) feature[C] {
	return feature[C]{name: name, value: func(c C) float64 {
		if holds(c) {
			return 1
		}
		return 0
	}}
}

// as adds a detail to a feature.
func (f feature[C]) as(detail func(C) string) feature[C] {
	f.detail = detail
	return f
}

// model is features with their weights.
type model[C any] struct {
	features []feature[C]
	weights  []float64
}

func newModel[C any](weights map[string]weight, features []feature[C]) model[C] {
	m := model[C]{features: features, weights: make([]float64, len(features))}
	for i, f := range features {
		m.weights[i] = weights[f.name].fitted
	}
	return m
}

func (m *model[C]) score(c C) float64 {
	sum := 0.0
	for i := range m.features {
		sum += m.weights[i] * m.features[i].value(c)
	}
	return sum
}

// reasons returns the features that hold and count.
func (m *model[C]) reasons(c C) []Reason {
	var all []Reason
	for i, f := range m.features {
		v := f.value(c)
		if v == 0 || m.weights[i] == 0 {
			continue
		}
		r := Reason{Feature: f.name, Weight: m.weights[i], Value: v}
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
		s = fmt.Sprintf("%+.2f %s (%+.2f × %.2f)", r.Weight*r.Value, r.Feature, r.Weight, r.Value)
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

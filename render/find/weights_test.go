package find

import "testing"

// TestWeights: each feature has a weight, and each weight a feature.
func TestWeights(t *testing.T) {
	weighed(t, phraseFeatures, phraseWeights)
	weighed(t, codeFeatures, codeWeights)
	weighed(t, linkFeatures, linkWeights)
}

func weighed[C any](t *testing.T, features []feature[C], weights map[string]weight) {
	t.Helper()
	for _, f := range features {
		if _, ok := weights[f.name]; !ok {
			t.Errorf("the feature %q has no weight", f.name)
		}
	}
	if len(features) != len(weights) {
		t.Errorf("%d features and %d weights", len(features), len(weights))
	}
}

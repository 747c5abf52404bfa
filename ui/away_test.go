package ui

import (
	"slices"
	"testing"
)

// Each action is among those that work over SSH, or it is said what to do instead: a new one needs a decision.
func TestActionsOverSSH(t *testing.T) {
	for _, c := range newActions() {
		_, refused := insteadAway[c.ID]
		if works := slices.Contains(worksAway, c.ID); works == refused {
			t.Errorf("the action %s: list it in worksAway if it needs nothing but a terminal and the service, else in insteadAway", c.ID)
		}
	}
}

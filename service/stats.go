package service

// Stats are counts for metrics.
type Stats struct {
	Waiting int // callers in WaitMessages and WaitInboxes
}

// Stats returns the current counts.
func (s *Service) Stats() Stats { return Stats{Waiting: s.hub.count()} }

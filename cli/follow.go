package cli

import (
	"context"

	"mayfly/api"
	"mayfly/api/watch"
)

// follow watches inboxes, and when all is set tells which appear meanwhile. It hands each event to on until that is done,
// fails, or ctx ends; then it waits until the watcher has ended.
func follow(ctx context.Context, c *api.Client, inboxIDs []string, all bool, on func(*watch.Watcher, watch.Event) (done bool, err error)) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	w := watch.New(c, watch.Options{NoInboxes: !all})
	for _, id := range inboxIDs {
		w.Add(id)
	}
	w.SetView(inboxIDs)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(watching) }()
	for e := range w.Events() {
		done, err := on(w, e)
		if done || err != nil {
			cancel()
			<-ended
			return err
		}
	}
	err := <-ended
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

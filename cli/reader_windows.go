package cli

import "context"

// whileRead runs what waits for mail. Only Unix says that nobody can read stdout any more.
func (a *app) whileRead(ctx context.Context, run func(context.Context) error) error { return run(ctx) }

package term

import (
	"context"

	"github.com/atotto/clipboard"
)

// systemClipboard returns what writes the system's clipboard, which waits for another program to
// release it for at most a second.
func (e Env) systemClipboard() func(context.Context, string) error {
	return func(_ context.Context, text string) error { return clipboard.WriteAll(text) }
}

// Mayfly shows temporary email inboxes in a terminal.
package main

import (
	"context"
	"os"

	"mayfly/cli"
	"mayfly/internal/ballast"
)

func main() {
	ballast.Drop()
	os.Exit(cli.Run(context.Background(), os.Args[1:], cli.OS()))
}

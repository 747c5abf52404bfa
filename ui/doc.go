// Package ui is the terminal application: inboxes, messages and the message in panes side by side.
//
// The root model (app) routes messages, draws the bars, stacks dialogs and applies intents. The
// panes are in package workspace, the inboxes and messages in store, and the requests to a service
// in session. These rules hold everywhere:
//
//   - Update and View do no I/O. Commands do the work. A result names its session and, for an
//     opened message, its generation; a stale result is dropped.
//   - Selections are by ID. Nothing that arrives moves the cursor or the scroll position.
//   - Every key, hint, palette entry and click on a hint is an action of one table, see actions.go.
//   - Panes and dialogs change only themselves and return intents, see intents.go.
//   - Text from a message or a service passes render.Clean before it is kept for the screen.
//   - There is one timer, and it runs only while something on the screen depends on the time.
//   - Nothing is conveyed by colour alone.
package ui

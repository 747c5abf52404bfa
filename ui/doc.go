// Package ui is the terminal application: inboxes, messages and the message in panes side by side.
//
// The root model (app) has the panes, which one has focus and what is selected. It routes messages, draws the
// bars, stacks dialogs and does what the actions do. These rules hold everywhere:
//
//   - Update and View do no I/O. Commands do the work. A result names its session and, for an
//     opened message, its generation; a stale result is dropped.
//   - Selections are by ID. Nothing that arrives moves the cursor or the scroll position.
//   - Every key, hint, palette entry and click on a hint is an action of one table, see actions.go.
//   - Panes and dialogs change only themselves. The root calls their methods; a dialog calls the functions that
//     it was opened with.
//   - Text from a message or a service passes render.Clean before it is kept for the screen.
//   - There is one timer. It ticks once a second while something on the screen depends on the time.
//   - Nothing is conveyed by colour alone.
package ui

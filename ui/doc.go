// Package ui is the terminal application: inboxes, messages and the message in panes side by side.
//
// The root model (app) routes messages, draws the bars, stacks dialogs and carries intents out. The
// panes are in package workspace, what is known of inboxes and messages in store, and what is asked
// of a service in session. These rules hold everywhere:
//
//   - Update and View do no I/O. Work is done by commands, and a result names its session and,
//     where a message was opened, its generation; one that is stale is dropped.
//   - Selections are by ID. Nothing that arrives moves the cursor or the scroll position.
//   - Every key, hint, palette entry and click on a hint is an action of one table, see actions.go.
//   - Panes and dialogs return intents, see intents.go: they touch nothing but themselves.
//   - What comes from a mail or a service passes render.Clean before it is kept for the screen.
//   - One timer runs, and only while something on the screen changes by the passing of time.
//   - Nothing is said by colour alone.
package ui

// Package ui is the terminal application: inboxes, messages and the message in panes side by side.
//
// The root model (app) routes messages, lays out the screen and stacks overlays. A pane owns its state:
// the inboxes, the list of messages, the reader. What is known of inboxes and messages is the book's.
// These rules hold everywhere:
//
//   - Update and View do no I/O. Work is done by commands, and what a command brings back (an outcome)
//     knows whether it came too late: it carries its session, and the generation of what asked for it.
//   - Selections are by ID. Nothing that arrives moves the cursor or the scroll.
//   - Every key, hint, palette entry and click on a hint is an action of one table, which also says why an
//     action cannot be done now.
//   - A dialog turns keys into an intent, and the application carries it out.
//   - What comes from a mail or a service passes render.Clean before it is kept for the screen.
//   - One timer runs, and only while something on the screen changes by the passing of time.
//   - Nothing is told by colour alone.
package ui

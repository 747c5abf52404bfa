// Package ui is the terminal application: inboxes, messages and the message in panes side by side.
//
// The root model (app) routes messages, lays out the screen, stacks dialogs and carries intents out;
// everything else has a package of its own. A pane owns its state. What is known of inboxes and
// messages is the store's; what is asked of a service is the session's. These rules hold everywhere:
//
//   - Update and View do no I/O. Work is done by commands, and a result names its session and, where a
//     message was opened, its generation; one that is stale is dropped.
//   - Selections are by ID. Nothing that arrives moves the cursor or the scroll position.
//   - Every key, hint, palette entry and click on a hint is an action of one table (actions.go), which
//     also says why an action cannot be done now.
//   - Panes and dialogs return intents, and the root carries them out (intents.go).
//   - What comes from a mail or a service passes render.Clean before it is kept for the screen.
//   - One timer runs, and only while something on the screen changes by the passing of time.
//   - Nothing is said by colour alone.
package ui

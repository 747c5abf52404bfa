// Package api is a client of temporary inbox services: it creates throw-away
// e-mail inboxes, lists and reads the messages that arrive in them, and
// deletes them.
//
// # Use
//
//	c, err := api.New("https://mail.example", key, api.Options{})
//	inbox, err := c.CreateInbox(ctx, api.CreateInbox{TTL: 600})
//	// … have something send a mail to inbox.Email …
//	list, err := c.Messages(ctx, inbox.ID)
//	message, err := c.Message(ctx, inbox.ID, list.Messages[0].ID)
//	err = c.DeleteInbox(ctx, inbox.ID)
//
// [New] makes no request. A [Client] is safe for use by several goroutines,
// and every call ends when its context does.
//
// # Objects
//
// The types are those of the contract. They are read liberally: times of any
// precision and offset, a sender as "Name <address>", attachments under
// various field names, lists that are null, and unknown fields are all
// accepted. They are written strictly. What the service sent is kept in the
// field Raw of each object. Everything that comes from a service or a mail is
// data from strangers: it may hold control sequences, paths and lies.
//
// A service may list messages in any order; sort them by ReceivedAt.
//
// # Errors
//
// Errors are told apart by errors.Is with [ErrNotFound], [ErrRateLimited] and
// the others, and what the service said is an [*Error], for errors.As. The
// text of each error is one printable line.
//
//	var e *api.Error
//	if errors.Is(err, api.ErrRateLimited) && errors.As(err, &e) {
//		retry after e.RetryAfter
//	}
//
// [ErrNotFound] is only what the service itself says about an inbox or a
// message. A page of a web server that knows nothing of this API is
// [ErrUnexpected]: most likely the base URL is wrong.
//
// # The key
//
// The key is sent to the origin of the base URL and nowhere else: redirects
// within it are followed for GET, all others are errors. It is not sent over
// plain HTTP, except to loopback, unless [Options].Insecure is set. It is in
// no error, no [Trace], and not in what printing a client yields.
//
// # Trying again
//
// GET and DELETE are tried again after network errors and answers 5xx, and
// everything after 429, with a growing wait of which a part is chance, or the
// one that the service asks for in Retry-After. When that is longer than
// [Options].MaxWait the call fails at once instead. Creating an inbox is not
// tried again when it may have been carried out. A deletion that finds the
// inbox gone on a later attempt has succeeded.
//
// # Rate limits
//
// Services limit the requests a minute of a key. A client keeps its own
// account, the [Budget], and lets calls wait rather than run into the limit.
// [Client.Background] returns a client for work that nobody waits for, which
// leaves room for the other calls; package api/watch follows any number of
// inboxes that way.
//
// # Extensions
//
// Some services can do more than the contract says. Each call that needs it
// fails with [ErrUnsupported] where the service does not, which is found out
// by asking once:
//
//   - [Client.HoldMessages]: the answer comes when there is something new
//   - [Client.Inboxes] and [Client.HoldInboxes]: the inboxes of the key
//   - [Client.MessagesPage]: a part of a long list
//   - [Client.Raw]: a message as it was received
//   - [Client.AttachmentContent]: the content of an attachment that did not
//     come with the message
//
// To test programs that use this package, see package api/apitest.
package api

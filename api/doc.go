// Package api is a client of temporary inbox services: it creates throw-away email inboxes, lists
// and reads the messages that arrive in them, and deletes them.
//
// # Use
//
//	c, err := api.New("https://mail.example", key, api.Options{})
//	inbox, err := c.CreateInbox(ctx, api.CreateInbox{TTL: 600})
//	// … have something send a message to inbox.Email …
//	list, err := c.Messages(ctx, inbox.ID)
//	message, err := c.Message(ctx, inbox.ID, list.Messages[0].ID)
//	err = c.DeleteInbox(ctx, inbox.ID)
//
// [New] makes no request. A [Client] is safe for use by several goroutines, and every call ends
// when its context does.
//
// # Objects
//
// The types are those of the contract. They are read liberally: times of any precision and offset,
// a sender as "Name <address>", attachments under various field names, lists that are null, and
// unknown fields are all accepted. They are written strictly. What the service sent is kept in the
// field Raw of each object. Everything that comes from a service or a message is data from strangers:
// it may hold control sequences, paths and lies.
//
// A service may list messages in any order; sort them by ReceivedAt.
//
// # Errors
//
// Tell errors apart with errors.Is and [ErrNotFound], [ErrRateLimited] and so on. What the service
// answered is an [*Error], for errors.As. The text of every error is one printable line.
//
//	var e *api.Error
//	if errors.Is(err, api.ErrRateLimited) && errors.As(err, &e) {
//		retry after e.RetryAfter
//	}
//
// [ErrNotFound] means that the service itself has no such inbox or message. A page of a web server
// that does not speak this API is [ErrUnexpected]: most likely the base URL is wrong.
//
// # The key
//
// The key is sent to the origin of the base URL and nowhere else: redirects within it are followed
// for GET, all others are errors. It is not sent over plain HTTP, except to loopback, unless
// [Options].Insecure is set. It appears in no error, in no [Trace], and not when a client is
// printed.
//
// # Retries
//
// GET and DELETE are retried after network errors and 5xx answers, everything is retried after 429:
// with a growing delay that is partly random, or after the time that the service asks for in
// Retry-After. If that is longer than [Options].MaxWait, the call fails at once instead. Creating
// an inbox is not retried if it may have been carried out. A deletion that finds the inbox gone on
// a retry has succeeded.
//
// # Rate limits
//
// Services limit how many requests a key may make per minute. A client keeps its own count, the
// [Budget], and delays calls rather than run into the limit. [Client.Background] returns a client
// for work that nobody waits for, which leaves room for the other calls; package api/watch follows
// any number of inboxes that way.
//
// # Extensions
//
// Some services offer more than the contract requires. A call that needs an extension fails with
// [ErrUnsupported] on a service without it; the client asks once and remembers:
//
//   - [Client.PollMessages]: the answer comes when there is something new
//   - [Client.Inboxes] and [Client.PollInboxes]: the inboxes of the key
//   - [Client.Raw]: a message as it was received
//   - [Client.AttachmentContent]: the content of an attachment that did not
//     come with the message
//   - [Client.DeleteMessage] and [Client.EmptyInbox]: one message is deleted, or all
//   - [Client.ExtendInbox]: an inbox expires later, or sooner
//
// [Client.Delivery], the delivery details of a message, is not remembered: without it there is [ErrNotFound]. Nor is
// [Client.Sessions], the SMTP sessions.
//
// To test programs that use this package, see package api/apitest.
package api

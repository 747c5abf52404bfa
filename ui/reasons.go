package ui

import "mayfly/render/image"

// The reasons for which an action cannot be done now, in the words the screen shows.

func needService(a *app) string {
	if a.session == nil {
		return "Not connected yet"
	}
	return ""
}

func needInbox(a *app) string {
	if a.session == nil {
		return "Not connected yet"
	}
	if a.inbox() == nil {
		if len(a.book.order) == 0 {
			return "There is no inbox yet: " + a.keyFor("new-inbox") + " makes one"
		}
		return "Select an inbox first"
	}
	return ""
}

// needLive is needInbox, of an inbox that is not gone.
func needLive(a *app) string {
	if reason := needInbox(a); reason != "" {
		return reason
	}
	if a.inbox().gone(a.now) {
		return "This inbox is gone: " + a.keyFor("new-inbox") + " makes a new one"
	}
	return ""
}

func needMessage(a *app) string {
	if a.current() == nil {
		return "Select a message first"
	}
	return ""
}

func needCode(a *app) string {
	m := a.current()
	switch {
	case m == nil:
		return "Select a message first"
	case m.peek == nil:
		return "Still looking for a code"
	case m.peek.code == "":
		return "No code was found in this message"
	}
	return ""
}

func needLink(a *app) string {
	m := a.current()
	switch {
	case m == nil:
		return "Select a message first"
	case m.peek == nil:
		return "Still looking for a link"
	case m.peek.linkURL == "":
		return "No confirm link was found: " + a.keyFor("labels") + " labels every link"
	}
	return ""
}

func needOpen(a *app) string {
	if a.reader.opened == nil {
		return "Open a message first"
	}
	return ""
}

func needHits(a *app) string {
	if len(a.reader.search.hits) == 0 {
		return "Nothing was searched for: " + a.keyFor("search") + " in the message does"
	}
	return ""
}

func needAttachments(a *app) string {
	if reason := needOpen(a); reason != "" {
		return reason
	}
	if len(a.reader.opened.letter.Message.Attachments) == 0 {
		return "This message has no attachments"
	}
	return ""
}

func needPictures(a *app) string {
	if reason := needOpen(a); reason != "" {
		return reason
	}
	o := a.reader.opened
	switch {
	case a.reader.pictures:
		return ""
	case o.pictures+o.picturesAway == 0:
		return "This message carries no pictures; remote ones are never loaded"
	case a.reader.pictureMode.Protocol == image.Off:
		return "Pictures are drawn in colours, of which this terminal has none"
	case o.pictures == 0 && (a.noRaw || o.rawErr != nil || o.letter.Raw != nil):
		return "The pictures are not at hand: the service does not give the raw message"
	}
	return ""
}

func needPair(a *app) string {
	if n := len(a.messages.marks); n != 2 {
		return "Mark two messages first, with " + a.keyFor("mark") + ": " + itoa(n) + " marked"
	}
	return ""
}

func needRow(a *app) string {
	if a.focus == paneInboxes && a.inboxes.selected() == nil || a.focus == paneMessages && a.messages.selected() == nil {
		return "Nothing to mark here"
	}
	return ""
}

// needListed is for going into what is selected.
func needListed(a *app) string {
	if a.focus == paneMessages && a.messages.selected() == nil {
		return "There is no message to open"
	}
	return ""
}

func needMarked(a *app) string {
	if len(a.inboxes.marks) == 0 {
		return "Mark inboxes first, with " + a.keyFor("mark")
	}
	return ""
}

func needSMTP(a *app) string {
	switch {
	case a.session == nil:
		return "Not connected yet"
	case a.session.conn.SMTPAddr == "":
		return "Only the embedded service takes sample mails"
	}
	return needLive(a)
}

func needProfiles(a *app) string {
	if len(a.opts.Profiles) < 2 {
		return "There is one profile only: " + a.keyFor("connect") + " makes another"
	}
	return ""
}

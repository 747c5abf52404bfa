package find

import "mayfly/render/lexicon"

// linkFeatures is what speaks for and against a candidate for the link.
var linkModel = model[*link]{
	// Its text.
	when("its text asks what the subject asks", 4, 5.55, func(l *link) bool { return l.answers() }).about((*link).names),
	when("its text asks", 2.5, 2.23, func(l *link) bool { return l.own != 0 && !l.answers() }).about((*link).names),
	when("a bare or general text", 1, 0.96, func(l *link) bool { return l.own == 0 && (l.bare || l.generic) }),
	when("a button", 1, 1.42, func(l *link) bool { return l.button }),
	when("named like the links of a footer", -4, -4.00, func(l *link) bool { return l.footer }),
	when("about an order, an offer or news", -2.5, -3.03, func(l *link) bool { return l.trade }),
	when("undoes or refuses", -4, -4.00, func(l *link) bool { return l.refuses }),
	when("a mere way to join", -2, -2.87, func(l *link) bool {
		return l.own == onlyInvite && (l.subject()|l.opening()|l.near)&onlyInvite == 0 && !l.isReply()
	}),

	// The text around it.
	when("its sentence asks", 1.2, 1.32, func(l *link) bool { return l.near&^onlyLogin != 0 }).about(func(l *link) string { return l.near.String() }),
	when("nothing in the mail asks", -2.5, -2.63, func(l *link) bool {
		return (l.near | l.subject() | l.own | l.target.asks | l.opening()&^onlyLogin) == 0
	}),
	when("for those who did not ask", -4, -4.65, func(l *link) bool { return l.ifNot && !l.answers() }),

	// Its URL.
	when("carries a secret", 1.3, 1.92, func(l *link) bool { return l.target.token }),
	when("carries what looks like a secret", 0.7, 1.95, func(l *link) bool { return l.target.opaque && !l.target.token }),
	when("its path says so too", 1.2, 1.71, func(l *link) bool { return l.target.asks&l.wanted() != 0 }).about(func(l *link) string {
		return (l.target.asks & l.wanted()).String()
	}),
	when("its path asks", 0.5, 2.02, func(l *link) bool {
		return l.target.asks != 0 && l.target.asks&l.wanted() == 0 && !l.target.footer
	}).about(func(l *link) string { return l.target.asks.String() }),
	when("asks by its path and carries a secret", 1, 0.00, func(l *link) bool { return l.target.forRequest() }),
	when("the only link, asks by its path and carries a secret", 2.2, 2.51, func(l *link) bool { return l.only && l.own == 0 && l.target.forRequest() }),
	when("asks nothing by its path, and carries nothing", -2, -2.51, func(l *link) bool { return !l.target.made() && !l.target.root }),
	when("leads to a front page", -3, -2.86, func(l *link) bool { return l.target.root }),
	when("leads to what footers link to", -3, -3.04, func(l *link) bool { return l.target.footer && l.target.asks == 0 && !(l.answers() && l.target.token) }),
	when("its path undoes or refuses", -8, -8.00, func(l *link) bool {
		return l.target.refuse && !(l.answers() && (!l.refuses || l.mail.subjectHas(lexicon.Refuse)))
	}),
	when("carries the marks of a campaign and no secret", -7, -7.53, func(l *link) bool { return l.target.campaign && !l.target.token && !l.target.opaque }),

	// What the mail is about.
	when("the subject tells what has happened", -3, -2.38, func(l *link) bool { return l.reported() >= 2 && !l.asksDespite() }),
	when("the subject asks, and tells what has happened", -1, -1.07, func(l *link) bool { return l.subject() != 0 && l.mail.purpose.notice >= 2 }),
	when("the mail is about orders, offers or news", -3, -4.47, func(l *link) bool { return l.mail.purpose.trade >= 2 && !l.isReply() }),
	when("the subject asks for something", 0.8, 1.44, func(l *link) bool {
		return l.own == 0 && l.subject() != 0 && (l.subject() != onlyLogin || l.target.token || l.target.opaque && l.bare)
	}).about(func(l *link) string { return l.subject().String() }),
	when("the mail has a code, which it does not carry", -3.5, -3.56, func(l *link) bool {
		return l.hasCode && !l.target.token && !l.target.opaque && !(l.target.asks != 0 && l.isReply())
	}),
	when("the mail is about a meeting", -4, -4.04, func(l *link) bool { return l.page.meeting }),
	when("the only link of a short mail, which asks for something", 1, 1.84, func(l *link) bool {
		asks := l.own&^onlyInvite&^onlyLogin != 0 || l.subject() != 0 && (l.own != 0 || l.bare || l.generic)
		return asks && l.target.made() && l.only && l.page.short && !l.hasCode && l.mail.purpose.trade+l.mail.purpose.notice == 0
	}),
}

// onlyLogin and onlyInvite are the sets with just signing in or joining, purposes that many pages
// have.
const (
	onlyLogin  = set(1 << lexicon.Login)
	onlyInvite = set(1 << lexicon.Invite)
)

func (l *link) subject() set { return l.mail.purpose.subject }
func (l *link) opening() set { return l.mail.purpose.opening }

// wanted is what the mail or the link's text asks for.
func (l *link) wanted() set { return l.subject() | l.opening() | l.own }

// answers reports whether the link's text asks what the subject asks.
func (l *link) answers() bool { return l.own&l.subject() != 0 }

// isReply reports whether a link is what the mail asks for, whatever else it is about.
func (l *link) isReply() bool {
	asked := l.near & l.target.asks
	return l.answers() || l.bare && l.subject() != 0 || !l.trade && (l.target.forRequest() && asked != 0 || asked&l.subject() != 0)
}

// names returns what the link's text asks, that of the subject first.
func (l *link) names() string {
	for _, of := range []set{l.subject(), l.opening()} {
		if l.own&of != 0 {
			return (l.own & of).String()
		}
	}
	return l.own.String()
}

// reported is how much the mail tells what has happened, if its subject asks nothing.
func (l *link) reported() float64 {
	if l.subject() != 0 {
		return 0
	}
	return l.mail.purpose.notice
}

// asksDespite reports whether a link asks for more than signing in, and is more than a name. A lock
// is reported to be undone.
func (l *link) asksDespite() bool {
	return l.own&^onlyLogin != 0 && (l.target.token || l.near&^onlyLogin != 0 || l.own.has(lexicon.Unlock))
}

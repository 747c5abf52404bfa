package find

import "mayfly/render/lexicon"

// linkFeatures is what speaks for and against a candidate for the link.
var linkFeatures = []feature[*link]{
	// Its text.
	when("its text asks what the subject asks", func(l *link) bool { return l.answers() }).as((*link).names),
	when("its text asks what the mail opens with", func(l *link) bool { return !l.answers() && l.own&l.opening() != 0 }).as((*link).names),
	when("its text asks", func(l *link) bool { return l.own != 0 && l.own&(l.subject()|l.opening()) == 0 }).as((*link).names),
	when("a bare or general text", func(l *link) bool { return l.own == 0 && (l.bare || l.generic) }),
	when("a button", func(l *link) bool { return l.button }),
	when("named like the links of a footer", func(l *link) bool { return l.footer }),
	when("about an order, an offer or news", func(l *link) bool { return l.trade }),
	when("undoes or refuses", func(l *link) bool { return l.refuses }),
	when("a mere way to sign in", func(l *link) bool {
		return l.own == onlyLogin && !l.target.token && !l.target.opaque && !l.subject().has(lexicon.Login) && !l.subject().has(lexicon.Invite)
	}),
	when("a mere way to join", func(l *link) bool {
		return l.own == onlyInvite && (l.subject()|l.opening()|l.near)&onlyInvite == 0 && !l.isReply()
	}),

	// The text around it.
	when("no more than a word of signing in near it", (*link).mereLogin),
	when("its sentence asks", func(l *link) bool { return l.near != 0 && !l.mereLogin() }).as(func(l *link) string { return l.near.String() }),
	when("nothing in the mail asks", func(l *link) bool {
		return (l.near | l.subject() | l.own | l.target.asks | l.opening()&^onlyLogin) == 0
	}),
	when("to be copied into a browser", func(l *link) bool { return l.copied }),
	when("beside words of trade", func(l *link) bool { return l.nearTrade && !l.isReply() }),
	when("for those who did not ask", func(l *link) bool { return l.ifNot && !l.answers() }),
	when("in the footer", func(l *link) bool { return l.inFooter() && !(l.answers() && !l.target.footer) }),

	// Its URL.
	when("carries a secret", func(l *link) bool { return l.target.token }),
	when("carries what looks like a secret", func(l *link) bool { return l.target.opaque && !l.target.token }),
	when("its path says so too", func(l *link) bool { return !l.pathOfLogin() && l.target.asks&l.wanted() != 0 }).as(func(l *link) string {
		return (l.target.asks & l.wanted()).String()
	}),
	when("its path asks", func(l *link) bool {
		return !l.pathOfLogin() && l.target.asks != 0 && l.target.asks&l.wanted() == 0 && !l.target.footer
	}).as(func(l *link) string { return l.target.asks.String() }),
	when("asks by its path and carries a secret", func(l *link) bool { return l.target.forRequest() }),
	when("the only link, asks by its path and carries a secret", func(l *link) bool { return l.only && l.own == 0 && l.target.forRequest() }),
	when("asks nothing by its path, and carries nothing", func(l *link) bool { return !l.target.made() && !l.target.root }),
	when("leads to a front page", func(l *link) bool { return l.target.root }),
	when("leads to what footers link to", func(l *link) bool { return l.target.footer && l.target.asks == 0 && !(l.answers() && l.target.token) }),
	when("its path undoes or refuses", func(l *link) bool {
		return l.target.refuse && !(l.answers() && (!l.refuses || l.mail.subjectHas(lexicon.Refuse)))
	}),
	when("leads to a call", func(l *link) bool { return l.target.call && !l.target.forRequest() }),
	when("carries the marks of a campaign and no secret", func(l *link) bool { return l.target.campaign && !l.target.token && !l.target.opaque }),
	when("a profile in a social network, or a shop of applications", func(l *link) bool { return l.social() }),

	// What the mail is about.
	when("the subject tells what has happened, but it asks", func(l *link) bool { return l.reported() >= 2 && l.asksDespite() }),
	when("the subject tells what has happened", func(l *link) bool { return l.reported() >= 2 && !l.asksDespite() }),
	when("the mail tells what has happened", func(l *link) bool { return l.reported() >= 1 && l.reported() < 2 }),
	when("the subject asks, and tells what has happened", func(l *link) bool { return l.subject() != 0 && l.mail.purpose.notice >= 2 }),
	when("the mail is about orders, offers or news", func(l *link) bool { return l.mail.purpose.trade >= 2 && !l.isReply() }),
	when("the mail is about orders, offers or news, but it answers", func(l *link) bool { return l.mail.purpose.trade >= 2 && l.isReply() }),
	when("the subject asks for something", func(l *link) bool {
		return l.own == 0 && l.subject() != 0 && (l.subject() != onlyLogin || l.target.token || l.target.opaque && l.bare)
	}).as(func(l *link) string { return l.subject().String() }),
	when("the mail has a code, which it does not carry", func(l *link) bool {
		return l.hasCode && !l.target.token && !l.target.opaque && !(l.target.asks != 0 && l.isReply())
	}),
	when("the mail is about a meeting", func(l *link) bool { return l.page.meeting }),
	when("the only link of a short mail, which asks for something", func(l *link) bool {
		asks := l.own&^onlyInvite&^onlyLogin != 0 || l.subject() != 0 && (l.own != 0 || l.bare || l.generic)
		return asks && l.target.made() && l.only && l.page.short && !l.hasCode && l.mail.purpose.trade+l.mail.purpose.notice == 0
	}),
	when("the only answer to the subject", func(l *link) bool {
		return l.only && l.bare && l.target.token && !l.hasCode && l.near == 0 && l.subject()&^onlyLogin != 0
	}),
}

var linkModel = newModel(linkWeights, linkFeatures)

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

// mereLogin reports whether signing in is mentioned near the link and nothing else is.
func (l *link) mereLogin() bool {
	return l.near == onlyLogin && l.own == 0 && !l.target.token && !(l.target.opaque && l.bare && l.followed && l.subject() == onlyLogin)
}

// pathOfLogin reports whether the path leads to where one signs in, without a secret.
func (l *link) pathOfLogin() bool { return l.target.asks == onlyLogin && !l.target.token }

func (l *link) inFooter() bool { return l.footers == l.places }

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

// social reports whether a link leads to a profile in a social network or to a shop of
// applications. What is asked there with the subject's words, or by the host's own mails, is not.
func (l *link) social() bool {
	return l.target.person || l.target.social && !l.answers() && !l.mail.from(l.target.host)
}

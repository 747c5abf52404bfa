package find

import (
	"net/url"
	"strings"

	"mayfly/render/find/lexicon"
)

// target is what a URL says.
type target struct {
	scheme, host string
	root         bool // leads to the front page
	token        bool // has a secret
	opaque       bool // has what may be a short secret
	asks         set  // purposes named by words in it
	footer       bool // leads to something that footers link to
	social       bool
	refuse       bool // undoes or refuses
	campaign     bool // has campaign parameters and no secret
}

// pathWords are words in paths and hosts that say what a link is for.
var pathWords = map[string]lexicon.Class{
	"verify": lexicon.Confirm, "verification": lexicon.Confirm, "verifyemail": lexicon.Confirm, "confirm": lexicon.Confirm,
	"confirmation": lexicon.Confirm, "confirmations": lexicon.Confirm, "confirmemail": lexicon.Confirm, "activate": lexicon.Confirm,
	"activation": lexicon.Confirm, "validate": lexicon.Confirm, "validation": lexicon.Confirm, "optin": lexicon.Confirm,
	"signup": lexicon.Confirm, "register": lexicon.Confirm, "registration": lexicon.Confirm, "onboarding": lexicon.Confirm,
	"approve": lexicon.Confirm, "authorize": lexicon.Confirm, "setup": lexicon.Confirm, "init": lexicon.Confirm,
	"login": lexicon.Login, "signin": lexicon.Login, "magic": lexicon.Login, "magiclink": lexicon.Login,
	"auth": lexicon.Login, "authenticate": lexicon.Login, "callback": lexicon.Login, "otp": lexicon.Login, "session": lexicon.Login, "sso": lexicon.Login,
	"reset": lexicon.Reset, "password": lexicon.Reset, "passwords": lexicon.Reset, "recover": lexicon.Reset, "recovery": lexicon.Reset,
	"resetpassword": lexicon.Reset, "passwordreset": lexicon.Reset, "forgot": lexicon.Reset, "pwreset": lexicon.Reset, "setpassword": lexicon.Reset,
	"lostpassword": lexicon.Reset,
	"invite":       lexicon.Invite, "invites": lexicon.Invite, "invitation": lexicon.Invite, "invitations": lexicon.Invite, "accept": lexicon.Invite, "join": lexicon.Invite,
	"unlock": lexicon.Unlock, "unblock": lexicon.Unlock, "reactivate": lexicon.Unlock,
	"changeemail": lexicon.Change, "emailchange": lexicon.Change,
	"delete": lexicon.Delete, "deletion": lexicon.Delete,
}

var footerWords = map[string]bool{
	"unsubscribe": true, "unsub": true, "optout": true, "preferences": true, "preference": true, "privacy": true, "terms": true,
	"tos": true, "help": true, "support": true, "contact": true, "faq": true, "faqs": true, "about": true, "legal": true, "imprint": true, "impressum": true,
	"blog": true, "abuse": true, "docs": true, "documentation": true, "cookies": true, "settings": true, "notifications": true, "careers": true,
	"webversion": true, "viewonline": true, "appstore": true, "datenschutz": true, "agb": true, "security": true, "policy": true, "policies": true,
	"subscriptions": true, "news": true, "pricing": true, "community": true, "forum": true, "status": true, "hc": true,
}

var refuseWords = map[string]bool{
	"cancel": true, "decline": true, "reject": true, "deny": true, "revert": true, "undo": true, "invalidate": true,
	"invalidateemail": true, "abort": true, "notme": true, "revoke": true, "rollback": true, "block": true, "disavow": true,
}

var socialHosts = []string{
	"facebook.com", "twitter.com", "x.com", "instagram.com", "linkedin.com", "youtube.com", "tiktok.com", "pinterest.com",
	"t.me", "discord.gg", "apps.apple.com", "itunes.apple.com", "play.google.com", "github.com", "gitlab.com", "vk.com", "weibo.com", "threads.net", "mastodon.social",
	"wa.me", "medium.com", "reddit.com", "snapchat.com", "w3.org", "youtu.be",
}

// secretNames are parameters whose value is a secret however short it is.
var secretNames = map[string]bool{
	"token": true, "code": true, "key": true, "hash": true, "sig": true, "signature": true, "otp": true, "nonce": true,
	"ticket": true, "secret": true, "oobcode": true, "confirmationtoken": true, "resetpasswordtoken": true, "invitationtoken": true,
	"confirmationkey": true, "activationcode": true, "activationkey": true, "activation": true, "uid": true, "uidb64": true, "jwt": true, "t": true, "auth": true,
	"tokenhash": true, "verificationcode": true, "verificationtoken": true, "verificationid": true, "ctoken": true, "authtoken": true, "logintoken": true,
	"accesstoken": true, "unlocktoken": true, "flow": true, "userid": true, "changekey": true, "resettoken": true, "resetkey": true, "c": true, "k": true, "guid": true, "magic": true,
}

// forRequest reports whether a URL looks made for one request, whatever is written about it.
func (t *target) forRequest() bool {
	return t.token && t.asks&^onlyLogin != 0 && !t.footer && !t.refuse
}

// longestURL is how much of a URL is read, in bytes.
const longestURL = 4096

func inspect(raw string) target {
	raw = cut(raw, longestURL)
	var t target
	scheme, rest, ok := strings.Cut(raw, ":")
	if !ok {
		rest = raw
	}
	t.scheme = strings.ToLower(scheme)
	rest = strings.TrimLeft(rest, "/")
	end := strings.IndexAny(rest, "/?#")
	path := ""
	if end >= 0 {
		rest, path = rest[:end], rest[end:]
	}
	t.host = strings.ToLower(rest)
	if at := strings.LastIndexByte(t.host, '@'); at >= 0 {
		t.host = t.host[at+1:]
	}
	bare, query, _ := strings.Cut(path, "?")
	t.root = strings.Trim(bare, "/#") == "" && !strings.Contains(bare, "#/")
	for _, h := range socialHosts {
		if t.host == h || strings.HasSuffix(t.host, "."+h) {
			t.social = true
		}
	}
	for piece := range strings.FieldsFuncSeq(bare, func(r rune) bool { return strings.ContainsRune("/#.!;:", r) }) {
		t.word(piece)
		t.token = t.token || secret(piece)
		t.opaque = t.opaque || short(piece)
	}
	if query != "" {
		t.parameters(query)
	}
	for label := range strings.SplitSeq(t.host, ".") {
		if c, ok := pathWords[label]; ok && label != "auth" && label != "login" {
			t.asks |= 1 << c
		}
	}
	return t
}

// word notes what a piece of a path says.
func (t *target) word(piece string) {
	if len(piece) > 40 {
		return
	}
	lower := strings.ToLower(piece)
	whole := squeeze(lower)
	if c, ok := pathWords[whole]; ok {
		t.asks |= 1 << c
	}
	t.footer = t.footer || footerWords[whole]
	t.refuse = t.refuse || refuseWords[whole]
	if len(whole) == len(lower) || strings.Count(lower, "-")+strings.Count(lower, "_") > 3 {
		return // one word, or a sentence
	}
	for w := range strings.FieldsFuncSeq(lower, func(r rune) bool { return r == '-' || r == '_' }) {
		if c, ok := pathWords[w]; ok {
			t.asks |= 1 << c
		}
		t.refuse = t.refuse || refuseWords[w]
		if w == "unsubscribe" || w == "preferences" || w == "privacy" || w == "unsub" {
			t.footer = true
		}
	}
}

// squeeze removes the separators between the words of a name.
func squeeze(s string) string {
	if !strings.ContainsAny(s, "-_[]") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_[]", r) {
			return -1
		}
		return r
	}, s)
}

func (t *target) parameters(query string) {
	campaign, others := 0, 0
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' || r == '#' || r == '?' }) {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToLower(strings.TrimPrefix(name, "amp;"))
		if strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "mc_") {
			campaign++
			continue
		}
		others++
		if decoded, err := url.QueryUnescape(value); err == nil && len(value) < 200 {
			value = decoded
		}
		plain := squeeze(name)
		switch {
		case secretNames[plain] && len(value) >= 4:
			t.token = true
		case secret(value) && !strings.Contains(value, "://"):
			t.token = true
		case name == "type" || name == "mode" || name == "action" || name == "page" || name == "view" || name == "a" || name == "do" || name == "p" || name == "route":
			t.word(value)
		}
		if c, ok := pathWords[plain]; ok {
			t.asks |= 1 << c
		}
	}
	t.campaign = campaign > 0 && others == 0
	t.root = t.root && others == 0
}

// short reports whether a piece of a path may be a short secret.
func short(s string) bool {
	if len(s) < 8 {
		return false
	}
	digits, letters := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		default:
			return false
		}
	}
	return digits >= 2 && letters >= 2
}

// secret reports whether a piece of a URL looks random.
func secret(s string) bool {
	if len(s) < 16 {
		return false
	}
	digits, letters, upper, lower := 0, 0, 0, 0
	vowelRun, word := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
			vowelRun = 0
		case c >= 'a' && c <= 'z':
			lower++
			letters++
			vowelRun++
			word = max(word, vowelRun)
		case c >= 'A' && c <= 'Z':
			upper++
			letters++
			vowelRun = 0
		default:
			vowelRun = 0
		}
	}
	if digits == 0 && (upper == 0 || lower == 0) {
		return len(s) >= 20 && word >= 20 // a long run of letters that is not a phrase
	}
	return digits >= 2 || upper >= 3 && lower >= 3
}

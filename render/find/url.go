package find

import (
	"slices"
	"strings"

	"mayfly/render/lexicon"
)

// target is what a URL says.
type target struct {
	scheme   string
	root     bool // leads to the front page
	token    bool // has a secret
	opaque   bool // has what may be a short secret
	title    bool // has the title of a page, words with hyphens
	query    bool // has parameters, those of campaigns aside
	asks     set  // purposes named by words in it
	footer   bool // leads to something that footers link to
	refuse   bool // undoes or refuses
	campaign bool // has campaign parameters and no secret
}

// pathWords are words in paths and hosts that say what a link is for.
var pathWords = map[lexicon.Class]map[string]bool{
	lexicon.Confirm: wordSet("verify verification verifyemail confirm confirmation confirmations confirmemail activate activation " +
		"validate validation optin signup register registration approve accept authorize setup init enroll enrollment enrollaccount " +
		"bestaetigen bestaetigung aktivieren confirmer confirmar confirmacion confirmacao conferma confermare verificar verificacion " +
		"verificacao verifica verifikasi verifier valider activer activar ativar attiva aktivasi bevestigen bekraeft bekrefta vahvista " +
		"potwierdz aktywacja potvrdit potvrdi overit megerosites dogrula onayla podtverdit"),
	lexicon.Login:  wordSet("login signin magic magiclink auth authenticate callback otp session sso"),
	lexicon.Reset:  wordSet("reset password passwords recover recovery resetpassword passwordreset changepassword updatepassword newpassword forgot pwreset setpassword lostpassword lostpass resetpass"),
	lexicon.Invite: wordSet("invite invites invitation invitations accept join"),
	lexicon.Unlock: wordSet("unlock unblock reactivate"),
}

// asked returns what a word in a path or host asks for.
func asked(word string) (s set) {
	for c, words := range pathWords {
		if words[word] {
			s |= 1 << c
		}
	}
	return s
}

var footerWords = wordSet("unsubscribe unsub optout preferences preference privacy terms tos help support contact faq faqs about legal " +
	"imprint impressum blog abuse docs documentation cookies settings notifications careers webversion viewonline appstore datenschutz agb " +
	"security policy policies subscriptions news pricing community forum status orderstatus hc")

var refuseWords = wordSet("cancel decline reject deny revert undo invalidate invalidateemail abort notme wasntme revoke rollback block " +
	"disavow report dismiss refuse unsubscribe unsub optout ablehnen abbrechen widerrufen sperren refuser annuler signaler bloquer rechazar cancelar anular denegar " +
	"recusar rejeitar annulla annullare rifiuta annuleren afwijzen weigeren odrzuc anuluj avbryt avvisa avslag annuller afvis peruuta " +
	"hylkaa zrusit odmitnout iptal reddet batal batalkan tolak otmena otklonit")

// ofAccounts are words beside those that ask: "verify-your-email".
var ofAccounts = wordSet("email e mail your my user account accounts address new link code token registration subscription identity device " +
	"one time two factor step complete finish pending the by via with to and for of key members")

// secretNames are parameters whose value is a secret however short it is.
var secretNames = wordSet("token code key hash sig signature otp nonce ticket secret oobcode confirmationtoken resetpasswordtoken " +
	"invitationtoken confirmationkey activationcode activationkey activation uid uidb64 jwt t auth tokenhash verificationcode " +
	"verificationtoken verificationid ctoken authtoken logintoken accesstoken unlocktoken flow userid changekey resettoken resetkey c k " +
	"guid magic magiclink")

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// web reports whether the target is a page of the web or of an application.
func (t *target) web() bool {
	switch t.scheme {
	case "mailto", "tel", "sms", "javascript", "data", "vbscript", "file", "cid", "about", "":
		return false
	}
	return true
}

// forRequest reports whether a URL looks made for one request, whatever is written about it.
func (t *target) forRequest() bool {
	return t.token && t.asks&^onlyLogin != 0 && !t.footer && !t.refuse
}

// made reports whether a URL may be made for a request: it asks or carries something.
func (t *target) made() bool { return t.asks&^onlyLogin != 0 || t.token || t.opaque || t.query }

// longestURL is how much of a URL is read, in bytes.
const longestURL = 4096

func inspect(raw string) target {
	var t target
	scheme, rest, _ := strings.Cut(cut(raw, longestURL), ":")
	t.scheme = strings.ToLower(scheme)
	path, query, _ := strings.Cut(strings.TrimLeft(rest, "/"), "?")
	path = strings.TrimLeftFunc(path, func(r rune) bool { return r != '/' && r != '#' }) // without the host
	t.root = strings.Trim(path, "/#") == "" && !strings.Contains(path, "#/")
	if at := strings.IndexByte(path, '#'); at >= 0 && !strings.Contains(path[at:], "/") && !secret(path[at+1:]) {
		path = path[:at] // a place in a page
	}
	last := ""
	for piece := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune("/#.!;:", r) }) {
		if strings.HasPrefix(piece, "@") {
			break // what a person wrote
		}
		t.word(piece)
		last = piece
		t.token = t.token || secret(piece)
		t.opaque = t.opaque || short(piece)
	}
	if footerWords[strings.ToLower(last)] { // "registration/1874/status"
		t.asks = 0
	}
	t.parameters(query)
	if strings.Contains(path, "forgot") && !t.token && !t.opaque { // where one asks for a link
		t.asks, t.footer = 0, true
	}
	return t
}

// word notes what a piece of a path says.
func (t *target) word(piece string) {
	if len(piece) > 40 {
		return
	}
	lower := strings.ToLower(piece)
	whole := separators.Replace(lower)
	t.asks |= asked(whole)
	t.footer = t.footer || footerWords[whole]
	if whole == "view" { // "passwords/view/1874"
		t.asks, t.footer = 0, true
	}
	t.refuse = t.refuse || refuseWords[whole]
	words := strings.FieldsFunc(lower, func(r rune) bool { return r == '-' || r == '_' })
	if len(words) > 2 && slices.ContainsFunc(words, func(w string) bool { return !ofAccounts[w] && asked(w) == 0 && !refuseWords[w] }) {
		t.title = true
		return
	}
	for _, w := range words {
		t.asks |= asked(w)
		t.refuse = t.refuse || refuseWords[w]
	}
}

// separators are removed between the words of a name.
var separators = strings.NewReplacer("-", "", "_", "", "[", "", "]", "")

func (t *target) parameters(query string) {
	campaign, others := 0, 0
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' || r == '#' || r == '?' }) {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "utm_") {
			campaign++
			continue
		}
		others++
		t.token = t.token || secretNames[separators.Replace(name)] && len(value) >= 4 || secret(value)
		t.opaque = t.opaque || short(value)
		t.asks |= asked(separators.Replace(name))
	}
	t.campaign = campaign > 0 && others == 0
	t.query = others > 0
	t.root = t.root && !t.query
}

// short reports whether a piece of a URL may be a short secret.
func short(s string) bool {
	if len(s) < 8 {
		return false
	}
	n := consist(s)
	return n.others == 0 && (n.digits >= 2 && n.upper+n.lower >= 2 || n.digits >= 1 && n.upper >= 2)
}

// secret reports whether a piece of a URL looks random: it changes between letters and digits more
// often than words, years and hyphens do.
func secret(s string) bool {
	const wordLength = 4
	if len(s) < 16 {
		return false
	}
	n := consist(s)
	switch {
	case n.digits+n.upper == 0:
		return false
	case n.upper+n.lower > 0 && len(s) > wordLength*n.runs:
		return false
	}
	return n.digits >= 2 || n.upper >= 3 && n.lower >= 3 || n.digits > 0 && n.lower == 0
}

// consistency is what a piece of a URL consists of, in bytes.
type consistency struct {
	digits, upper, lower, others int
	runs                         int // of letters or digits; a capital begins a run of small letters
}

func consist(s string) (n consistency) {
	const digit, capital, small, other = '0', 'A', 'a', '-'
	last := other
	for i := 0; i < len(s); i++ {
		kind := other
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			n.digits++
			kind = digit
		case c >= 'a' && c <= 'z':
			n.lower++
			kind = small
		case c >= 'A' && c <= 'Z':
			n.upper++
			kind = capital
		default:
			n.others++
		}
		if kind != last && kind != other && !(kind == small && last == capital) {
			n.runs++
		}
		last = kind
	}
	return n
}

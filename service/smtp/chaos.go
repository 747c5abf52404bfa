package smtp

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// chaos has the faults that a tester asked for, by stage. Nil: none.
type chaos map[string][]*fault

// fault is a rule of Options.Chaos.
type fault struct {
	rule    string        // as given
	slow    time.Duration // delays the right answer; 0: the fault is one of those below
	reply   string        // answer instead of the right one; "": none
	lost    bool          // the message is stored, and the session ends without an answer
	ends    bool          // the session
	percent float64
	times   int64 // it occurs at most; 0: any number

	tries    atomic.Int64
	occurred prometheus.Counter
}

// chaosStage maps commands to stages. The others are "connect", "auth" for the answer to a login, and
// "data" for the answer to a message.
var chaosStage = map[string]string{
	"EHLO": "helo", "HELO": "helo", "STARTTLS": "starttls", "MAIL": "mail", "RCPT": "rcpt", "QUIT": "quit",
}

// chaosRule matches a rule. It is compiled where it is used, which few do, so that programs start faster.
const chaosRule = `^(connect|helo|starttls|auth|mail|rcpt|data|quit)=(?:([45][0-5][0-9])|slow:([^:]+)|drop|(lost))(?::([0-9.]+)%|:([0-9]+)x)?$`

// enhancedCodes are the usual ones (RFC 3463) for reply codes. Others are other failures of the system.
var enhancedCodes = map[string]string{
	"421": "4.3.2", "450": "4.2.0", "452": "4.3.1", "454": "4.7.0", "530": "5.7.0", "535": "5.7.8",
	"550": "5.1.1", "552": "5.2.2", "553": "5.1.3", "554": "5.7.1",
}

// parseChaos parses the rules of Options.Chaos. The error has a line for each that is wrong.
func parseChaos(rules string) (chaos, error) {
	if rules == "" {
		return nil, nil
	}
	all := chaos{}
	var faults []error
	for rule := range strings.SplitSeq(rules, ",") {
		rule = strings.TrimSpace(rule)
		stage, f, ok := parseFault(rule)
		if !ok {
			faults = append(faults, fmt.Errorf("the chaos rule %q is not STAGE=FAULT, STAGE=FAULT:5%% or STAGE=FAULT:2x: STAGE is connect, helo, "+
				"starttls, auth, mail, rcpt, data or quit; FAULT is a reply code such as 451 or 550, slow:2s, drop or, of data, lost", rule))
			continue
		}
		all[stage] = append(all[stage], f)
	}
	return all, errors.Join(faults...)
}

func parseFault(rule string) (stage string, f *fault, ok bool) {
	m := regexp.MustCompile(chaosRule).FindStringSubmatch(rule)
	if m == nil {
		return "", nil, false
	}
	stage, code := m[1], m[2]
	f = &fault{rule: rule, lost: m[4] != "", ends: code == "" || code == "421" || stage == "connect"}
	if code != "" {
		f.reply = code + " " + cmp.Or(enhancedCodes[code], code[:1]+".3.0") + " On purpose (chaos)"
	}
	var slow, percent, times error
	if m[3] != "" {
		f.slow, slow = time.ParseDuration(m[3])
	}
	f.percent, percent = strconv.ParseFloat(cmp.Or(m[5], "100"), 64)
	if m[6] != "" {
		f.times, times = strconv.ParseInt(m[6], 10, 64)
	}
	ok = slow == nil && percent == nil && times == nil && (m[3] == "" || f.slow > 0) && f.percent <= 100 && (m[6] == "" || f.times > 0) &&
		(!f.lost || stage == "data")
	return stage, f, ok
}

// addressFault returns the fault that a recipient's address asks for, as in ada+smtp-550@x.test, or nil.
func addressFault(address string) *fault {
	local, _, _ := strings.Cut(strings.ToLower(address), "@")
	_, rule, asks := strings.Cut(local, "+smtp-")
	if !asks {
		return nil
	}
	stage := "rcpt="
	if rule == "lost" {
		stage = "data="
	}
	if _, f, ok := parseFault(stage + strings.Replace(rule, "slow-", "slow:", 1)); ok {
		return f
	}
	return nil
}

// AddressFault returns what a recipient's address asks for on the local service, as in ada+smtp-550@x.test: the reply that
// refuses it, how long to wait first, whether the connection ends instead, or does once the message is stored.
func AddressFault(address string) (reply string, slow time.Duration, drop, lost bool) {
	f := addressFault(address)
	if f == nil {
		return "", 0, false, false
	}
	return f.reply, f.slow, f.reply == "" && f.slow == 0 && !f.lost, f.lost
}

// draw decides what goes wrong at a stage: how long the answer waits, and the fault that replaces it,
// if any. Rules apply in their order, up to the first that is not slow.
func (c chaos) draw(stage string) (slow time.Duration, f *fault) {
	for _, f := range c[stage] {
		switch {
		case !f.occurs():
		case f.slow == 0:
			return slow, f
		default:
			slow += f.slow
		}
	}
	return slow, nil
}

func (f *fault) occurs() bool {
	if rand.Float64()*100 >= f.percent || f.times > 0 && f.tries.Add(1) > f.times {
		return false
	}
	f.occurred.Inc()
	return true
}

// injectFault applies the rules for a stage, which a command's verb may name. If done, the client has its
// answer, or the session ends.
func (c *conn) injectFault(at string) (done bool, err error) {
	if c.server.chaos == nil {
		return false, nil
	}
	return c.inflict(c.server.chaos.draw(cmp.Or(chaosStage[at], at)))
}

func (c *conn) inflict(slow time.Duration, f *fault) (done bool, err error) {
	if slow > 0 {
		if err := c.pause(slow); err != nil {
			return true, err
		}
	}
	switch {
	case f == nil:
		return false, nil
	case f.reply != "":
		c.reply(f.reply)
	}
	if f.ends {
		return true, errClosed
	}
	return true, nil
}

// pause sends the replies so far and waits, until the session or the server has to end at the latest.
func (c *conn) pause(d time.Duration) error {
	if err := c.flush(); err != nil {
		return err
	}
	select {
	case <-time.After(min(d, time.Until(c.begun.Add(c.server.options.SessionTimeout)))):
	case <-c.server.sessions.Stopping():
	}
	return nil
}

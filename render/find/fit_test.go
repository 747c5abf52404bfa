package find

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mayfly/render/find/candidate"
	"mayfly/render/html"
	"mayfly/render/text"
)

var fitting = flag.Bool("fit", false, "fit the weights to the fixtures and write them beside the features")

// The weights maximise the likelihood of what the fixtures expect. Each mail is a choice among its
// candidates and "nothing", whose score is the threshold; the probability of a choice is the softmax
// of the scores, with wrong ones ahead by the tie and the margin. A penalty holds a weight to what a person gave
// it, and it keeps its sign.
const (
	rounds    = 400
	folds     = 10
	sharpness = 3 // of the softmax: how certain a point of difference makes
)

// option is a candidate: its features, and for a code those of the words for a code near it, of
// which the one that weighs most counts.
type option struct {
	x       []float64
	phrases [][]float64
	right   bool
}

// choice is a mail.
type choice struct {
	options []option
	weight  float64 // of it among the mails made from the same source
	fold    int
	none    bool // "nothing" is right
}

// problem is what is fitted: the weights of the phrases' features come first.
type problem struct {
	names       []string
	hand        []float64
	phrases     int
	choices     []choice
	enough, tie float64
}

func (p *problem) score(w []float64, o *option) (score float64, phrase []float64) {
	for i, v := range o.x {
		score += w[p.phrases+i] * v
	}
	most := 0.0
	for _, x := range o.phrases {
		if worth := dot(w, x); worth > most {
			most, phrase = worth, x
		}
	}
	return score + most, phrase
}

func dot(w, x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += w[i] * v
	}
	return sum
}

// learn adds the gradient of the likelihood of a choice to g, and returns the log of the likelihood.
func (p *problem) learn(w, g []float64, c *choice) float64 {
	scores, phrases := make([]float64, len(c.options)), make([][]float64, len(c.options))
	none := p.enough - margin
	if !c.none {
		none = p.enough + p.tie + margin
	}
	most := none
	for i := range c.options {
		scores[i], phrases[i] = p.score(w, &c.options[i])
		if !c.options[i].right {
			scores[i] += p.tie
		}
		most = max(most, scores[i])
	}
	all, right := math.Exp(sharpness*(none-most)), 0.0
	if c.none {
		right = all
	}
	for i := range scores {
		scores[i] = math.Exp(sharpness * (scores[i] - most))
		if all += scores[i]; c.options[i].right {
			right += scores[i]
		}
	}
	for i := range c.options {
		o := &c.options[i]
		slope := -scores[i] / all
		if o.right {
			slope += scores[i] / right
		}
		for j, v := range phrases[i] {
			g[j] += c.weight * sharpness * slope * v
		}
		for j, v := range o.x {
			g[p.phrases+j] += c.weight * sharpness * slope * v
		}
	}
	return c.weight * math.Log(right/all)
}

// fit returns the weights for the choices outside a fold; -1 leaves none out.
func (p *problem) fit(penalty float64, without int) []float64 {
	w := append([]float64(nil), p.hand...)
	g, mean, square := make([]float64, len(w)), make([]float64, len(w)), make([]float64, len(w))
	for round := 1; round <= rounds; round++ {
		for i := range w {
			g[i] = penalty * (p.hand[i] - w[i])
		}
		for i := range p.choices {
			if c := &p.choices[i]; c.fold != without {
				p.learn(w, g, c)
			}
		}
		for i := range w { // Adam
			mean[i] = 0.9*mean[i] + 0.1*g[i]
			square[i] = 0.99*square[i] + 0.01*g[i]*g[i]
			m, s := mean[i]/(1-math.Pow(0.9, float64(round))), square[i]/(1-math.Pow(0.99, float64(round)))
			w[i] += 0.02 * m / (math.Sqrt(s) + 1e-8)
			if w[i]*p.hand[i] < 0 {
				w[i] = 0
			}
		}
	}
	return w
}

// figures are of the choices of a fold under some weights, -1 for all of them.
type figures struct {
	right, missed, wrong int
	likelihood           float64 // mean of the logs
}

func (f *figures) add(p *problem, w []float64, fold int) {
	g := make([]float64, len(w))
	for i := range p.choices {
		c := &p.choices[i]
		if fold >= 0 && c.fold != fold {
			continue
		}
		var all []scored[*option]
		for j := range c.options {
			s, _ := p.score(w, &c.options[j])
			all = append(all, scored[*option]{&c.options[j], s})
		}
		found, chosen := best(all, p.enough, p.tie)
		switch {
		case chosen && found[0].candidate.right, !chosen && c.none:
			f.right++
		case chosen:
			f.wrong++
		default:
			f.missed++
		}
		f.likelihood += p.learn(w, g, c)
	}
}

func (f figures) String() string {
	return fmt.Sprintf("%d right, %d missed, %d wrong, likelihood %.2f", f.right, f.missed, f.wrong, f.likelihood)
}

// crossValidated are the figures of each fold under weights fitted to the others.
func (p *problem) crossValidated(penalty float64) (f figures) {
	for fold := range folds {
		f.add(p, p.fit(penalty, fold), fold)
	}
	return f
}

// problems returns what is to be fitted to the mails: the choice of the code, and of the link.
func problems(mails []labelled) (codes, links *problem) {
	codes = &problem{phrases: len(phraseModel), enough: enoughForCode, tie: tieOfCodes}
	hand(codes, phraseModel)
	hand(codes, codeModel)
	links = &problem{enough: enoughForLink, tie: tieOfLinks}
	hand(links, linkModel)
	sizes := map[string]float64{}
	for _, m := range mails {
		sizes[m.source]++
	}
	for _, m := range mails {
		h := fnv.New32a()
		h.Write([]byte(m.source))
		base := choice{weight: 1 / sizes[m.source], fold: int(h.Sum32() % folds)}
		read := read(m.input)
		c := base
		c.none = m.code == ""
		for _, x := range one(scoredCodes(read)) {
			c.options = append(c.options, x.candidate.option(m.code))
		}
		codes.choices = append(codes.choices, c)
		code := ""
		if codes, ok := read.codes(); ok {
			code = codes[0].Value
		}
		for i, body := range read.bodies() {
			c := base
			c.none = m.link == ""
			found := false
			for _, l := range body.candidates(read, code) {
				right := body.doc.Links[l.n-1].URL == m.link
				found = found || right
				c.options = append(c.options, option{x: values(linkModel, &l), right: right})
			}
			if found || i == 0 && c.none {
				links.choices = append(links.choices, c)
			}
		}
	}
	return codes, links
}

// hand adds the weights that a person gave.
func hand[C any](p *problem, m model[C]) {
	for _, f := range m {
		p.names, p.hand = append(p.names, f.name), append(p.hand, f.hand)
	}
}

func values[C any](features model[C], c C) []float64 {
	x := make([]float64, len(features))
	for i, f := range features {
		x[i] = f.value(c)
	}
	return x
}

func scoredCodes(m *mail) []scored[*code] {
	var all []scored[*code]
	for _, c := range m.codeCandidates() {
		all = append(all, scored[*code]{c, c.score()})
	}
	return all
}

func (c *code) option(want string) option {
	o := option{x: values(codeModel, c), right: c.Key() == key(want)}
	c.phrases(func(p *phrase) { o.phrases = append(o.phrases, values(phraseModel, p)) })
	return o
}

func key(value string) string {
	return (&code{Candidate: candidate.Candidate{Value: value}}).Key()
}

// given reads the labelled mails in the folders that MAYFLY_LABELLED names, to measure by: JSON files of sender, from,
// subject, text, html and expect.
func given(t *testing.T) []labelled {
	var all []labelled
	for _, folder := range filepath.SplitList(os.Getenv("MAYFLY_LABELLED")) {
		files, _ := filepath.Glob(folder + "/*.json")
		for _, file := range files {
			var m struct {
				Sender, Subject, Text, HTML string
				Expect                      struct{ Code, Link string }
			}
			b, err := os.ReadFile(file)
			if err == nil {
				err = json.Unmarshal(b, &m)
			}
			if err != nil {
				t.Fatal(file, err)
			}
			f := fixture{subject: m.Subject, textDoc: text.Read(m.Text, text.Options{}), htmlDoc: html.Read(m.HTML)}
			in := f.input()
			if m.HTML == "" {
				in.Doc, in.Text = f.textDoc, nil
			} else if m.Text == "" {
				in.Text = nil
			}
			all = append(all, labelled{source: m.Sender, input: in, code: m.Expect.Code, link: m.Expect.Link})
		}
	}
	return all
}

// TestFit fits the weights, with -fit, and reports the figures. With MAYFLY_LABELLED it also reports those of mails
// that the weights are not fitted to, and of weights fitted to nine tenths of their senders too, on the tenth left out.
func TestFit(t *testing.T) {
	if !*fitting {
		t.Skip("without -fit")
	}
	codes, links := problems(corpus(t))
	givenCodes, givenLinks := problems(given(t))
	var report strings.Builder
	for _, p := range []struct {
		what  string
		files []string
		*problem
		given *problem
	}{{"Codes", []string{"codefeatures.go", "phrase.go"}, codes, givenCodes}, {"Links", []string{"link.go"}, links, givenLinks}} {
		var byHand, all figures
		byHand.add(p.problem, p.hand, -1)
		bestPenalty, best := 0.0, figures{}
		for _, penalty := range []float64{1, 3} {
			f := p.crossValidated(penalty)
			t.Logf("%s penalty %g: %v", p.what, penalty, f)
			if bestPenalty == 0 || f.likelihood > best.likelihood {
				bestPenalty, best = penalty, f
			}
		}
		w := p.fit(bestPenalty, -1)
		all.add(p.problem, w, -1)
		if len(p.given.choices) > 0 {
			var unfitted, tenths figures
			unfitted.add(p.given, w, -1)
			both := *p.problem
			both.choices = slices.Concat(p.choices, p.given.choices)
			for fold := range folds {
				tenths.add(p.given, both.fit(bestPenalty, fold), fold)
			}
			t.Logf("%s of labelled mails: %v; fitted to nine tenths of their senders too, on the tenth left out: %v", p.what, unfitted, tenths)
		}
		fmt.Fprintf(&report, "//   - %s by hand: %v.\n//   - %s fitted to nine tenths of the sources, on the tenth left out: %v.\n//   - %s fitted to all: %v.\n",
			p.what, byHand, p.what, best, p.what, all)
		for _, file := range p.files {
			rewrite(t, file, func(source string) string {
				for i, name := range p.names {
					row := regexp.MustCompile(`("` + regexp.QuoteMeta(name) + `", [-.\d]+, )[-.\d]+`)
					source = row.ReplaceAllString(source, fmt.Sprintf("${1}%.2f", w[i]))
				}
				return source
			})
		}
	}
	t.Log(report.String())
	rewrite(t, "score.go", func(source string) string {
		const begin, end = "// Figures of the fit:\n//\n", "type feature["
		from, to := strings.Index(source, begin)+len(begin), strings.Index(source, end)
		return source[:from] + report.String() + source[to:]
	})
}

func rewrite(t *testing.T, file string, change func(source string) string) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(change(string(b))), 0o644); err != nil {
		t.Fatal(err)
	}
}

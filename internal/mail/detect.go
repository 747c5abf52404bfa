package mail

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A candidate is a charset that undeclared text may be in. In a usual text, share of the characters
// beyond ASCII are among the common ones.
type candidate struct {
	encoding encoding.Encoding
	common   map[rune]bool
	share    float64
}

// candidates are made on first use, which for most programs is never.
var candidates = sync.OnceValue(func() []candidate {
	list := make([]candidate, len(scripts))
	for i, s := range scripts {
		common := make(map[rune]bool)
		for _, r := range s.common {
			common[r] = true
		}
		list[i] = candidate{s.encoding, common, s.share}
	}
	return list
})

var scripts = [...]struct {
	encoding encoding.Encoding
	common   string
	share    float64
}{
	{simplifiedchinese.GB18030, "，。：、！？“”（）的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运您码验证账户邮件请点击激活登录密码客服", 0.7},
	{traditionalchinese.Big5, "，。：、！？「」（）的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運您碼驗證帳戶郵請擊啟登入密客服曰云耳矣焉乎哉", 0.7},
	{japanese.ShiftJIS, "、。・ー「」！？（）　：のにはをたがでてとしれさいるもなかすこりっんうあどくよきませらだえけおつやじめわみろばそへほちょ日本年人月大時分会メルアドレスストンクラーリイ", 0.7},
	{japanese.EUCJP, "、。・ー「」！？（）　：のにはをたがでてとしれさいるもなかすこりっんうあどくよきませらだえけおつやじめわみろばそへほちょ日本年人月大時分会メルアドレスストンクラーリイ", 0.7},
	{korean.EUCKR, "이다는에의을가고를은한하지도로서사인기자니리어시해정그으아나대전있일수게스보여주과만들요습것상면구부라안원제오화소장었되된합할성비우신경동입메등까년님세위인증호번확메계회감", 0.6},
	{charmap.Windows1251, "оеаинтсрвлкмдпуязыьбгйчжхшюцщэф", 0.9},
	{charmap.KOI8R, "оеаинтсрвлкмдпуязыьбгйчжхшюцщэф", 0.9},
	{charmap.Windows1253, "αοιετσνηυρπκμλςωδγχθφβάέήίόύώ", 0.9},
	{charmap.Windows1255, "אבגדהוזחטיכלמנסעפצקרשתםןץףך", 0.98},
	{charmap.Windows1256, "ابتثجحخدذرزسشصضطظعغفقكلمنهويىةأإآءئؤ", 0.98},
	{charmap.Windows874, "กขคงจชซญดตถทธนบปผพฟภมยรลวสหอะาิีึืุูเแโใไ่้็์ัำ", 0.95},
}

// detectCharset guesses the charset of undeclared text that is not UTF-8, by how many of its
// characters are common in each candidate. It returns nil if none stands out, as in Western
// languages, where characters beyond ASCII are few.
func detectCharset(b []byte) encoding.Encoding {
	b = sample(b)
	if !mostlyForeign(b) {
		return nil
	}
	var best encoding.Encoding
	score := 0.5
	for _, c := range candidates() {
		if s := c.score(b); s > score {
			best, score = c.encoding, s
		}
	}
	return best
}

// sample is the start of b, up to the end of a line if it is long.
func sample(b []byte) []byte {
	const size = 1024
	if len(b) <= size {
		return b
	}
	if end := bytes.LastIndexByte(b[:size], '\n'); end > 0 {
		return b[:end]
	}
	return b[:size]
}

// mostlyForeign reports whether octets beyond ASCII are at least as common as ASCII letters.
func mostlyForeign(b []byte) bool {
	high, letters := 0, 0
	for _, c := range b {
		switch {
		case c >= 0x80:
			high++
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		}
	}
	return high >= 4 && high >= letters
}

// score is 1 for a text with the usual share of common characters.
func (c candidate) score(b []byte) float64 {
	s := decodeWith(c.encoding, b)
	common, all, bad := 0, 0, 0
	for _, r := range s {
		switch {
		case r == utf8.RuneError, 0x80 <= r && r < 0xa0:
			bad++
		case r < utf8.RuneSelf:
		default:
			all++
			if c.common[r] {
				common++
			}
		}
	}
	if bad*50 > all {
		return 0
	}
	return float64(common) / float64(max(all, 1)) / c.share
}
